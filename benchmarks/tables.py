#!/usr/bin/env python3
"""Tables of the documents are made of records: docs/performance/NAME.json, of one run each.

    benchmarks/tables.py ROOT [--write]

Between `<!-- table: NAME [PART] -->` and `<!-- /table -->` stands what benchmarks/tables/NAME.md
(NAME-PART.md) says, below a line that tells the commit, the run and the machine. In such a file

    {CASE COUNTER}                     is what the record has, with a unit after the counter's end
    {CASE COUNTER|ms}                  with this one: ns, us, ms, s, mb or mib
    {CASE COUNTER / CASE COUNTER}      a ratio
    {CASE COUNTER|range}               of several rounds the median, and the least and the most
    {CASE COUNTER|label}               what the benchmark says in words
    {goal NAME}                        the limit of benchmarks/goals.json, bold where it is missed

Where there is no record yet, the text in between stays as it is and begins with `Not recorded yet`.
Between `<!-- goals -->` and `<!-- /goals -->` stand all goals, what the records say of them, and what
gate.json has of them (goals.held).
Prints what differs and exits with 1; with --write puts it right.
"""

import json
import pathlib
import re
import sys

import goals as goals_file

REGION = re.compile(r"^<!-- (?P<what>table|goals)(?:: (?P<name>[\w-]+)(?: (?P<part>[\w-]+))?)? -->\n"
                    r"(?P<text>.*?)^<!-- /(?P=what) -->$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"\{([^{}\n]+)\}")
NOT_RECORDED = "*Not recorded yet"
NOTHING = "–"
# The ends of counters that are times or sizes, and what they are in.
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
SIZES = {"mb": "MB", "mib": "MiB"}


def record_file(root, name):
    return pathlib.Path(root) / "docs/performance" / f"{name}.json"


def load_record(root, name):
    """None where there is none."""
    path = record_file(root, name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def number(value):
    """Two digits that count, three behind a leading 1 and from 100 on; no exponent."""
    if value == 0:
        return "0"
    digits = 3 if f"{abs(value):e}"[0] == "1" or abs(value) >= 100 else 2
    value = float(f"{value:.{digits}g}")
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.{digits}g}"


def with_unit(value, counter):
    end = counter.rpartition("_")[2]
    if end in SIZES:
        return f"{number(value)} {SIZES[end]}"
    if end not in SECONDS or counter.endswith("per_s"):
        return number(value)
    seconds = value * SECONDS[end]
    for unit, factor in SECONDS.items():
        if abs(seconds) < 999.5 * factor or unit == "s":
            return f"{number(seconds / factor)} {unit}"
    return ""


def look_up(cases, reference):
    case, _, counter = reference.strip().rpartition(" ")
    return cases.get(case, {}).get(counter), counter


def cell(cases, text):
    """What a place between braces stands for."""
    text, _, form = text.partition("|")
    if form == "label":
        return cases.get(text.strip(), {}).get("label", NOTHING)
    over, _, under = text.partition(" / ")
    value, counter = look_up(cases, over)
    if value is None:
        return NOTHING
    middle = value[0] if isinstance(value, list) else value
    if under:
        other, _ = look_up(cases, under)
        other = other[0] if isinstance(other, list) else other
        return number(middle / other) if other else NOTHING
    if form == "range" and isinstance(value, list):
        return f"{number(middle)} ({number(value[1])} to {number(value[2])})"
    return with_unit(middle, f"_{form}" if form in SECONDS or form in SIZES else counter)


def limit_text(goal):
    _, limit = goals_file.limit(goal)
    text = "" if "under" in goal else with_unit(limit, goals_file.pairs(goal["over"])[0][1])
    return text if " " in text else f"{limit:,}"  # As it stands there where it has no unit.


def goal_cell(goal, cases):
    text = limit_text(goal)
    return f"**{text}: missed**" if goals_file.met(goal, cases) is False else text


def head(record):
    """The line that says once of what run a table is."""
    machine = record["machine"]
    others = f", others used {record['others_cores']} cores meanwhile" if "others_cores" in record else ""
    return (f"Commit {record['commit']}, {record['date'][:16].replace('T', ' ')} UTC, one run of "
            f"{record['seconds']} s by `./dev bench --record {record['record']}` on {machine['cores']} cores "
            f"({machine['cpu']}, {machine['memory_gib']} GiB, {machine['os']}, {machine['compiler']} "
            f"{machine['flags']}); load before it {record['load_before'][0]}{others}.")


def render_table(root, name, part, old):
    record = load_record(root, name)
    if record is None:
        if not old.startswith(NOT_RECORDED):
            raise ValueError(f"docs/performance/{name}.json is not there, and the text does not begin with "
                             f"`{NOT_RECORDED}`")
        return old
    cases, goals = record["cases"], {goal["name"]: goal for goal in goals_file.load(root)}
    template = pathlib.Path(root) / "benchmarks/tables" / f"{name}{f'-{part}' if part else ''}.md"

    def fill(place):
        if place[1].startswith("goal "):
            goal = goals.get(place[1].removeprefix("goal "))
            if goal is None:
                raise ValueError(f"{template.name}: no {place[1]}")
            return goal_cell(goal, cases)
        return cell(cases, place[1])

    failed = "".join(f"\n`{case}` failed: {counters['error']}.\n" for case, counters in cases.items()
                     if "error" in counters)
    return f"{head(record)}\n\n{PLACE.sub(fill, template.read_text(encoding='utf-8'))}{failed}"


def row(goal, record):
    side, _ = goals_file.limit(goal)
    words = "at most" if side == "at_most" else "at least"
    bound = f"{words} {limit_text(goal)}"
    if "or" in goal:
        bound += f", or {goal['or']['over'][1]} {'at most' if 'at_most' in goal['or'] else 'at least'} " \
                 f"{goals_file.limit(goal['or'])[1]}"
    cases = record["cases"] if record else {}
    value, met = goals_file.measured(goal, cases), goals_file.met(goal, cases)
    if value is not None:
        counter = "" if "under" in goal else goals_file.pairs(goal["over"])[0][1]
        return bound, with_unit(value, counter), "met" if met else "**missed**"
    if by_hand := goal.get("by_hand"):
        return bound, f"{by_hand['value']}, by hand at {by_hand['commit']}", \
            "met" if by_hand["met"] else "**missed**"
    return bound, "not recorded yet", ""


def render_goals(root):
    records, rows, notes, verdicts, held = {}, [], [], [], goals_file.held(root)
    for goal in goals_file.load(root):
        name = goal["record"]
        if name not in records:
            records[name] = load_record(root, name)
        bound, value, verdict = row(goal, records[name])
        rows.append(f"| {goal['name']} | {name} | {bound} | {value} | {verdict} | "
                    f"{held.get(goal['name'], '')} | {goal['since']} |")
        verdicts.append(verdict)
        if "note" in goal:
            notes.append(f"- *{goal['name']}*: {goal['note']}")
        notes += [f"- *{goal['name']}*: was {change['from']} until {change['commit']}: {change['why']}"
                  for change in goal.get("changes", [])]
    lines = list(held.values())
    summary = (f"{len(rows)} goals: {verdicts.count('met')} met, {verdicts.count('**missed**')} missed, "
               f"{verdicts.count('')} without a record yet. The gate holds {lines.count('goal')} of them, of "
               f"{lines.count('ratio')} the recorded ratio alone, and has {lines.count('not recorded')} that are not "
               f"recorded there; at the other {len(rows) - len(lines)} only a record looks.")
    return "\n".join([summary, "", "| goal | record | | measured | | gate | set with |",
                      "|---|---|---|---|---|---|---|", *rows, "",
                      "What has been said of some of them, or done to how they are measured:", "",
                      *notes]) + "\n"


def render(root, page):
    """The page as it is to be."""
    def replace(region):
        if region["what"] == "goals":
            text = render_goals(root)
        else:
            text = render_table(root, region["name"], region["part"], region["text"])
        return f"{region[0].partition(chr(10))[0]}\n{text}<!-- /{region['what']} -->"

    old = page.read_text(encoding="utf-8")
    marks = len(re.findall(r"^<!-- (?:table: |goals -->)", old, re.MULTILINE))
    if marks != len(REGION.findall(old)):
        raise ValueError("a region has a begin or an end alone")
    return old, REGION.sub(replace, old)


def pages(root):
    return sorted([*pathlib.Path(root).glob("*.md"), *pathlib.Path(root).glob("docs/**/*.md")])


def write(root):
    for page in pages(root):
        old, new = render(root, page)
        if new != old:
            page.write_text(new, encoding="utf-8")


def problems(root):
    yield from goals_file.problems(root)
    used = set()
    for page in pages(root):
        try:
            old, new = render(root, page)
        except ValueError as error:
            yield f"{page.relative_to(root)}: {error}"
            continue
        used |= {region["name"] for region in REGION.finditer(old)}
        if new != old:
            yield f"{page.relative_to(root)}: a table is not what its record says: ./dev format"
    for file in sorted((pathlib.Path(root) / "docs/performance").glob("*.json")):
        if file.stem not in used:
            yield f"{file.relative_to(root)}: no document has a table of it"


def main():
    root = pathlib.Path(sys.argv[1])
    if "--write" in sys.argv[2:]:
        write(root)
    found = list(problems(root))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
