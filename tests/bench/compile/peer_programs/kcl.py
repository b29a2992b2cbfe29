"""KCL in the process, schemas with checks, one execution for 100 specs, one file of JSON for each spec."""

import json

from inputs import FILES, OUT, batches, write  # type: ignore[import-not-found]
from kcl_lib.api import API, ExecProgramArgs  # type: ignore[import-not-found]

BATCH = 100

OUT.mkdir()
api, template = API(), (FILES / "template.k").read_text(encoding="utf-8")
for batch in batches(BATCH):
    calls = ", ".join(f"{values['kind']}{json.dumps(values)}.objects" for _, values in batch)
    done = api.exec_program(
        ExecProgramArgs(k_filename_list=["main.k"], k_code_list=[f"{template}\nmade = [{calls}]\n"])
    )
    for (name, _), objects in zip(batch, json.loads(done.json_result)["made"], strict=True):
        write(name, json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
