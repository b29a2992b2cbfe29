"""Sandbox for health scripts of Argo CD: Lua 5.1 with goto, without the libraries string, math and io.

A script may run for about one second.
"""

from typing import Any

import lupa.luajit21 as lua

_INSTRUCTIONS = 10_000_000
"""Number of Lua instructions after which a script is stopped: about a second's work, the same on every machine."""

_ALLOWED = (
    "_G",
    "assert",
    "error",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "select",
    "table",
    "tonumber",
    "tostring",
    "type",
)
_OS = ("clock", "date", "difftime", "time")


def assess(script: str, document: dict[str, Any]) -> dict[str, str]:
    """Return the health of a custom resource by the Lua script `script`: a mapping with `status` and `message`.

    `document` is the body of the resource. Raises `TimeoutError` if the script does not end in time.
    """
    runtime = lua.LuaRuntime(register_eval=False, unpack_returned_tuples=False)
    limit = runtime.eval("""function(count) debug.sethook(function() error("instruction limit") end, "", count) end""")
    build = runtime.eval("function(source, env) return setfenv(assert(loadstring(source)), env) end")
    names = runtime.globals()
    env = runtime.table_from({name: names[name] for name in _ALLOWED})
    env["os"] = runtime.table_from({name: names["os"][name] for name in _OS})
    env["_G"] = env
    env["obj"] = runtime.table_from(document, recursive=True)
    run = build(script, env)
    runtime.execute("jit.off()")
    limit(_INSTRUCTIONS)
    try:
        result = run()
    except lua.LuaError as error:
        if "instruction limit" in str(error):
            raise TimeoutError from error
        raise
    return {key: result[key] for key in ("status", "message")}
