// The rules of Prometheus for names and forms of figures, where its own checker is not installed: base units,
// endings of counters and of nothing else, a help text for each.
const ENDINGS = /_(bucket|count|sum)$/
const NOT_BASE =
  /_(milli|micro|nano|kilo|mega|giga)?(joule|watt|gram|second|byte)(_total)?$|_(ms|us|ns|minutes|hours|days|mib|kib|mb|kb|kwh|wh|mg|kg|percent|pct)(_total)?$|_(milli|micro|nano|kilo|mega|giga)(joules|watts|grams|seconds|bytes)(_total)?$/
const LINE = /^([a-z_:][a-z0-9_:]*)(\{.*\})? \S+$/

/** Every fault of a page in the text format of Prometheus. */
export function metricFaults(page: string): string[] {
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const faults: string[] = []
  const seen = new Set<string>()
  for (const line of page.split('\n')) {
    const [, word, name = '', text = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (word === 'HELP' && text !== '') helps.add(name)
    if (word === 'TYPE' && types.has(name)) faults.push(`${name}: two types`)
    if (word === 'TYPE') types.set(name, text)
    if (line === '' || line.startsWith('#')) continue
    const series = line.slice(0, line.lastIndexOf(' '))
    if (seen.has(series)) faults.push(`${series}: twice`)
    seen.add(series)
    const sample = LINE.exec(line)?.[1]
    if (sample === undefined) faults.push(`no sample: ${line}`)
    else if (!types.has(sample) && types.get(sample.replace(ENDINGS, '')) !== 'histogram')
      faults.push(`${sample}: no type`)
  }
  for (const [name, type] of types) {
    if (!helps.has(name)) faults.push(`${name}: no help`)
    if ((type === 'counter') !== name.endsWith('_total'))
      faults.push(`${name}: ends not as a ${type}`)
    if (NOT_BASE.test(name)) faults.push(`${name}: no base unit`)
    if (type !== 'histogram' && ENDINGS.test(name)) faults.push(`${name}: an ending of histograms`)
  }
  return faults
}

/** Names of figures in a text, such as the expressions of a dashboard. */
export const namesIn = (text: string): string[] => [...new Set(text.match(/\bergon_[a-z0-9_]+/g))]
