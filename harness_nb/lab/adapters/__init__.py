"""Adapters both ways: our policies as compactors of other packages, and their compactors as policies here.

One module for each package, with a function for each way; the packages come with the extra `bench`.

| Module | Package | A policy of ours there | One of theirs here |
| --- | --- | --- | --- |
| `kit` | compaction-conformance-kit | `compactor` | `policy` |
| `compactbench` | compactbench | `method` | `policy` |
| `conpact` | conpact | `compactor` | `policy` |
| `inspect_ai` | inspect_ai | `strategy` | `policy` |
| `langchain` | langchain | `middleware` | `policy` |
"""
