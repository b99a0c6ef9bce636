"""Adapters both ways: our policies as compactors of other packages, and their compactors as policies here.

One module for each package, with a function for each way; the packages come with the extra `bench`.

| Module | Package | A policy of ours there | One of theirs here |
| --- | --- | --- | --- |
| `kit` | compaction-conformance-kit | `compactor` | `policy`, `asking_policy` |
| `compactbench` | compactbench | `method` | `policy` |
| `conpact` | conpact | `compactor` | `policy` |
| `inspect_ai` | inspect_ai | `strategy` | `policy` |
| `langchain` | langchain | `middleware` | `policy`, `asking_policy` |

Where one of theirs asks a model, the driver asks it, as for every policy: `asking_policy` takes what makes it from a model of
ours, and the others find the call themselves. One that would call a model or a provider by itself is refused where that can be
seen, and fails when it is planned where it can't.
"""
