"""Sandbox for Argo CD's health scripts: Lua 5.1 with goto, without string, math and io libraries, for one second."""

from typing import Any

import lupa.luajit21 as lua

_INSTRUCTIONS = 10_000_000
"""Instructions after which a script is stopped: about a second, and the same on every machine."""

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
    """Return the health of `document` by `script`: `status` and `message`. Raises `TimeoutError` if it does not end."""
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
