"""The problems of libyaml in plain words, each with a hint."""

TAB = ("YAML requires spaces here, but this is a tab.", "Indent with spaces only.")
DIRECTIVE_PROBLEM = ('A line that begins with "%" is a directive; this one cannot be used.', "Remove the line.")
QUOTE = ("The quote that opens here is never closed.", "Close it; double a single quote that is part of the text.")
ESCAPE = ("A backslash in double quotes begins an escape, and YAML knows none like this.", "Use single quotes.")
FLOW_OPEN = 'The list or mapping that opens here is never closed, or a "," is missing in it.'
FLOW = 'The list or mapping that opens at {} is not closed here, or a "," is missing.'
TEMPLATE = ("A template begins here; specs are plain YAML.", "Let the template engine write the file first.")
CONFLICT = (
    "This is a marker of an unresolved Git merge conflict.",
    "Keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.",
)
NAME = (
    'A "*", "&" or "!" must be followed by a name.',
    'Put a string that begins with one of them in quotes, as in "*/5 * * * *".',
)

PROBLEMS: dict[str, tuple[str, str]] = {
    "mapping values are not allowed in this context": (
        'A ":" is in a place where no key can end.',
        'Line the key up with those above it, or put a string that holds ": " in quotes.',
    ),
    "did not find expected key": (
        "The next key of the mapping above was expected here.",
        "Line it up with the other keys; look for a stray quote or bracket.",
    ),
    "did not find expected '-' indicator": (
        'The next item of the list above was expected here, beginning with "- ".',
        "Line it up with the other items, or indent the list more than its key.",
    ),
    "could not find expected ':'": ('A key begins here, but no ":" follows on its line.', 'Write "key: value".'),
    "did not find expected node content": ("A value was expected here.", "Give a value, or remove the stray sign."),
    "block sequence entries are not allowed in this context": (
        'A list cannot begin with "- " here.',
        "Begin the list on a line of its own below the key.",
    ),
    "did not find expected comment or line break": (
        'Only a comment may follow on this line; the string of "|" or ">" begins on the next one.',
        'Begin the string on the next line, indented; put a string that begins with "|" or ">" in quotes.',
    ),
    "did not find expected <document start>": (
        "The document has ended, and no other begins here.",
        'Remove what is left over, or begin a document with a line "---".',
    ),
    "found a tab character that violates indentation": TAB,
    "found a tab character where an indentation space is expected": TAB,
    "found unexpected end of stream": QUOTE,
    "found unexpected document indicator": QUOTE,
    "did not find expected ',' or ']'": (FLOW, 'Close it with "]".'),
    "did not find expected ',' or '}'": (FLOW, 'Close it with "}".'),
    "found unknown escape character": ESCAPE,
    "did not find expected hexdecimal number": ESCAPE,
    "found invalid Unicode character escape code": (
        "This escape is no character; half of a surrogate pair is none.",
        "Write the character itself.",
    ),
    "did not find expected alphabetic or numeric character": NAME,
    "did not find expected whitespace or line break": NAME,
    "found undefined tag handle": ("The tag has a prefix that no %TAG line declares.", "Remove the tag."),
    "found incompatible YAML document": DIRECTIVE_PROBLEM,
}
NOTICED_LATE = {QUOTE, NAME, PROBLEMS["could not find expected ':'"]}
"""Messages for errors whose cause is at the `context_mark` of libyaml's error, not at its `problem_mark`."""
