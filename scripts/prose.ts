// Prose rules: words, openings and lengths of sentences that make comments and pages hard to read.
// Each folder has a count of faults in prose-counts.json. A count above it turns tidy red.
//
//   node scripts/prose.ts [FOLDER]   lists the faults, of one folder or of all
//   node scripts/prose.ts --write    stores the counts; refused when the sum would rise
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Fault } from './tidy-contract.ts'

export const COUNTS = 'scripts/prose-counts.json'

/** Longest sentence of a comment, in words. Paragraphs of pages have the same limit. */
const WORDS_MAX = 35

/** Banned words, each with the word to write instead. Inline code is not searched. */
export const BANNED: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bdoors?\b/i, 'protocol'],
  [/\bforgiv(?:e|es|en|ing)\b|\bforgave\b/i, 'absorb'],
  [/\b(?:bear|bears|bore|borne)\b/i, 'absorb, carry'],
  [/\brefusals? of nobody\b|\bcharges? of nobody\b/i, 'unattributed requests'],
  [/\bnobody's\b/i, 'unattributed'],
  [/\bballast\b/i, 'reserved disk space'],
  [/\bwhoever\b|\bwho asks\b|\bwho may ask\b/i, 'the caller'],
  [/\b(?:is|are|was|were) told\b/i, 'is reported, returns'],
  [/\bheed(?:s|ed|ing)?\b/i, 'honour'],
  [/\b(?:a|an|each|every|the|one|its|first|next|last) looks?\b(?!-)/i, 'poll, check, scan'],
  [/\b(?:a|each|every|the|one|same|next) questions?\b/i, 'query (SQL), request'],
  [/\b(?:by|of|to|for|from|on|with) who\b/i, 'the caller, the account'],
  [/\bfor all that\b/i, 'although'],
  [/\bbut for\b/i, 'except'],
]

/** A relative clause in the place of a noun: `What a caller may send`. Real questions pass. */
const CLAUSE = /^(?:What|Whether|Whose|Who|Whom|How)\b(?!.*\?$)/s

/** A comment that is the rest of a phrase: `Of the pot, before the level.` The rule knows auxiliary verbs only. */
const FRAGMENT = /^(?:Of|With|By|Those|From) /
const VERB =
  /\b(?:am|is|are|was|were|has|have|had|do|does|did|can|cannot|may|might|must|should|would|will|could)\b/

type Sentence = { readonly line: number; readonly text: string }

/** Faults of the sentences of one file. */
export function proseFaults(path: string, text: string): Fault[] {
  const faults: Fault[] = []
  for (const { line, text: sentence } of sentences(path, text)) {
    for (const [pattern, replacement] of BANNED) {
      const found = pattern.exec(sentence)
      if (found !== null) faults.push({ path, line, rule: `"${found[0]}": write ${replacement}` })
    }
    if (CLAUSE.test(sentence))
      faults.push({ path, line, rule: `begins with a clause: "${sentence.slice(0, 40)}"` })
    if (!path.endsWith('.md') && FRAGMENT.test(sentence) && !VERB.test(sentence))
      faults.push({ path, line, rule: `has no verb: "${sentence.slice(0, 40)}"` })
    const words = sentence.split(/\s+/).length
    if (words > WORDS_MAX) faults.push({ path, line, rule: `a sentence of ${words} words` })
  }
  return faults
}

/** Sentences of the comments of a source file, or of the paragraphs of a page. */
function sentences(path: string, text: string): Sentence[] {
  const found: Sentence[] = []
  let line = 0
  let block: string[] = []
  const close = () => {
    const prose = block.join(' ').replaceAll(/`[^`]*`/g, 'x')
    for (const sentence of prose.split(/(?<=[.?!]\**)\s+/))
      if (sentence !== '') found.push({ line, text: sentence })
    block = []
  }
  for (const [index, raw] of proseLines(path, text).entries()) {
    if (raw === null || raw === '' || /^[-*] |^\d+\. /.test(raw)) close()
    if (raw === null || raw === '') continue
    if (block.length === 0) line = index + 1
    block.push(raw.replace(/^(?:[-*]|\d+\.) /, ''))
  }
  close()
  return found
}

/** A figure or a format in a comment: text that is indented behind the comment mark. */
const FIGURE = /^(?:\/\/|\*(?!\/)) {2,}\S/

/** The prose of each line: its text without comment marks, or null where the line has none. */
function proseLines(path: string, text: string): (string | null)[] {
  let fenced = false
  return text.split('\n').map((raw) => {
    const line = raw.trim()
    if (FIGURE.test(line)) return null
    if (path.endsWith('.sql')) return /^-- ?(.*)/.exec(line)?.[1] ?? null
    if (!path.endsWith('.md'))
      return /^(?:\/\/|\/\*\*?|\*(?!\/)) ?(.*?)(?: ?\*\/)?$/.exec(line)?.[1] ?? null
    if (line.startsWith('```')) fenced = !fenced
    return fenced || /^(?:```|\||#|<)/.test(line) ? null : line
  })
}

/** The folder that a file is counted in: `src/cells`, `docs`, or `.` for the root. */
export const folderOf = (path: string): string =>
  /^(?:src\/[^/]+(?=\/)|[^/]+(?=\/))/.exec(path)?.[0] ?? '.'

const isProse = (path: string): boolean =>
  /\.(?:ts|mjs|sql|md)$/.test(path) && !/^docs\/reference\/|^CHANGELOG|^scripts\/prose/.test(path)

/** Number of faults of each folder. */
function count(paths: readonly string[], read: (path: string) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const path of paths.filter(isProse)) {
    const found = proseFaults(path, read(path)).length
    if (found > 0) counts[folderOf(path)] = (counts[folderOf(path)] ?? 0) + found
  }
  return counts
}

/** One fault for each folder that has more than `stored` allows. */
export function proseRatchet(
  paths: readonly string[],
  read: (path: string) => string,
  stored: Readonly<Record<string, number>>,
): Fault[] {
  return Object.entries(count(paths, read)).flatMap(([folder, found]) => {
    const allowed = stored[folder] ?? 0
    const rule = `${found} faults of prose, ${allowed} allowed: node scripts/prose.ts ${folder}; after a move of files --write`
    return found > allowed ? [{ path: folder, line: 1, rule }] : []
  })
}

export const storedCounts = (): Record<string, number> =>
  JSON.parse(readFileSync(COUNTS, 'utf8')) as Record<string, number>

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)

function main(argument: string | undefined): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
  })
  const paths = listed.split('\n').filter((path) => isProse(path) && existsSync(path))
  const read = (path: string) => readFileSync(path, 'utf8')
  if (argument === '--write') {
    const counts = count(paths, read)
    if (existsSync(COUNTS) && sum(counts) > sum(storedCounts())) {
      process.stderr.write(`prose: ${sum(counts)} faults, ${sum(storedCounts())} allowed\n`)
      process.exitCode = 1
      return
    }
    const sorted = Object.fromEntries(Object.entries(counts).toSorted())
    writeFileSync(COUNTS, `${JSON.stringify(sorted, null, 2)}\n`)
    return
  }
  for (const path of paths)
    if (argument === undefined || folderOf(path) === argument)
      for (const fault of proseFaults(path, read(path)))
        process.stdout.write(`${fault.path}:${fault.line}: ${fault.rule}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv[2])
