"""The compiled files that a command without errors puts into the cache."""

from collections import defaultdict

from stowplan.compiler.cache.compiled_file import CompiledFile, CompiledFiles, CompiledObjects, CompiledSpec
from stowplan.compiler.compiling.compile_all import Parts
from stowplan.compiler.compiling.lookup import surroundings
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.repository.layout import is_spec_file
from stowplan.compiler.specs.spec_facts import SpecFacts


def remembered(reading: Reading, parts: Parts) -> CompiledFiles:
    """Return the compiled files of all files with only specs, from the cache or made now.

    They may be stored only after the output is written: their digests assume that the output folder has the new files.
    """
    facts: defaultdict[str, list[SpecFacts]] = defaultdict(list)
    for each in reading.facts:
        facts[each.file].append(each)
    read: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for found in reading.read:
        read[found.location.file].append(found)
    checked = {part.spec: part for part in parts.checked}
    lines = {file.path: file.line for file in parts.files}
    known = {each.id: each for each in reading.facts}
    files = dict(reading.hits)
    for path in filter(is_spec_file, reading.keys.keys() - files.keys() - reading.mixed):
        own = facts[path]
        # An escaped name may be that of two files. A spec without objects was not checked.
        if "\\" in path or any(each.id not in checked for each in own):
            continue
        of_spec = {
            each.id: [lines[fact.path] for fact in checked[each.id].facts.objects if fact.path in lines] for each in own
        }
        files[path] = CompiledFile(
            reading.keys[path],
            surroundings(own, reading.others, known, (), of_spec),
            tuple(read[path]),
            tuple(
                CompiledSpec(
                    each,
                    parts.lowered[each.id],
                    CompiledObjects(checked[each.id].findings, checked[each.id].facts),
                )
                for each in own
            ),
        )
    return CompiledFiles(files, parts.platform)
