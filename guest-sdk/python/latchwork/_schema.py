"""JSON Schemas of annotations, and conversion of JSON to values of the annotated types.

An annotation is a dataclass, a builtin (``str``, ``int``, ``float``, ``bool``, ``None``), ``list[...]``,
``dict[str, ...]``, ``Optional[...]``, ``Literal[...]``, ``Any``, or a schema written as a dict. TypedDict is
not supported.
"""

import dataclasses
import json
import types
import typing

# Largest safe integer of a double. Every language reads integers up to this number exactly.
_SAFE = 2**53 - 1
_PLAIN = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": -_SAFE, "maximum": _SAFE},
    float: {"type": "number"},
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
}


def of(annotation):
    """Returns the schema of an annotation."""
    if isinstance(annotation, dict):
        return annotation
    if annotation is typing.Any or annotation is object:
        return {}
    if annotation in (None, type(None)):
        return dict(_PLAIN[type(None)])
    if isinstance(annotation, type) and annotation in _PLAIN:
        return dict(_PLAIN[annotation])
    if dataclasses.is_dataclass(annotation):
        return _of_dataclass(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return {"type": "array", "items": of(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": of(arguments[1])}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [of(argument) for argument in arguments]}
    raise TypeError(
        f"{annotation!r} has no JSON Schema: use a dataclass, str, int, float, bool, list[...], "
        "dict[str, ...], Optional[...], Literal[...], Any, or a schema as a dict"
    )


def _of_dataclass(cls):
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(cls)
    schema = {
        "type": "object",
        "properties": {field.name: of(hints[field.name]) for field in fields},
        "required": [field.name for field in fields if not _has_default(field)],
        "additionalProperties": False,
    }
    said = cls.__doc__
    # Python generates a docstring for a dataclass without one. A generated docstring is not a description.
    if said and not said.startswith(f"{cls.__name__}("):
        schema["description"] = said.strip()
    return schema


def _has_default(field):
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def read(annotation, value):
    """Converts JSON to a value of the annotated type. The host has validated the JSON against the schema."""
    if dataclasses.is_dataclass(annotation) and isinstance(value, dict):
        hints = typing.get_type_hints(annotation)
        known = {field.name for field in dataclasses.fields(annotation)}
        unknown = sorted(set(value) - known)
        if unknown:
            raise ValueError(f"{annotation.__name__} has no field {', '.join(unknown)}")
        return annotation(**{name: read(hints[name], item) for name, item in value.items()})
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list and isinstance(value, list):
        return [read(arguments[0], item) for item in value]
    if origin is dict and isinstance(value, dict):
        return {key: read(arguments[1], item) for key, item in value.items()}
    if origin in (typing.Union, types.UnionType) and value is not None:
        rest = [argument for argument in arguments if argument is not type(None)]
        return read(rest[0], value) if len(rest) == 1 else value
    return value


def text(value):
    """Serializes a value as JSON text. Raises ValueError or TypeError with the path of the first value that
    JSON cannot hold."""
    made = json.dumps(_plain(value, ""), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    try:
        made.encode()
    except UnicodeEncodeError as error:
        half = made[error.start:error.end]
        raise ValueError(f"it contains {half!r}, half of a surrogate pair") from None
    return made


def _plain(value, path):
    """Converts dataclasses to dicts and tuples to lists, for json.dumps."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item, f"{path}/{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}/{index}") for index, item in enumerate(value)]
    if isinstance(value, int) and abs(value) > _SAFE:
        raise ValueError(f"{path or 'it'} is {int(value)}: integers of 2^53 or more lose precision in other languages; use a string")
    if not (value is None or isinstance(value, (str, int, float))):
        raise TypeError(f"{path or 'it'} is of type {type(value).__name__}, which JSON cannot represent")
    return value
