// How hard a request looks: L0 lookup, L1 extraction, L2 aggregation, L3 reasoning. A sum of a few
// features that anyone can follow by hand; a learned router may replace it. No regular expressions:
// one pass over at most 800 characters, so that no text can make it slow (5 µs of CPU for
// a short one, 26 µs for the longest). On 5,214 texts of five public sets that its words were chosen
// with (CLINC, GSM8K, TAT-QA, seven of BBH): 0.75 in the right tier, 0.05 below it. Expect less on others.
// Code shows by its form: `return`, `def` and `class` are English words of extraction too.
import { TIERS, type Tier } from '#contract/charge.ts'

export type Score = { readonly tier: Tier; readonly because: string }

const HEAD_LENGTH = 350
const TAIL_LENGTH = 450
/** A tier above the best one is taken when it comes this close: too weak a model costs a second try. */
const DOUBT = 1

/** The tier of a text: what the user said last, or the whole prompt. */
export function scoreText(text: string): Score {
  const features = featuresOf(clip(text), text.length)
  const points = [0, 0, 0, 0]
  const reasons: string[][] = [[], [], [], []]
  for (const { tier, weight, name, holds } of FEATURES) {
    const strength = holds(features)
    if (strength <= 0) continue
    points[tier] = (points[tier] ?? 0) + weight * strength
    reasons[tier]?.push(name)
  }
  const chosen = abstainUpward(points)
  const found = reasons[chosen] ?? []
  return { tier: TIERS[chosen] ?? 'L3', because: found.length > 0 ? found.join(', ') : 'in doubt' }
}

function abstainUpward(points: readonly number[]): number {
  const best = Math.max(...points)
  // Nothing spoke for any tier: extraction is the middle of what such texts turn out to be.
  if (best === 0) return 1
  return points.findLastIndex((value) => value > 0 && value > best - DOUBT)
}

const clip = (text: string): string =>
  text.length <= HEAD_LENGTH + TAIL_LENGTH
    ? text
    : `${text.slice(0, HEAD_LENGTH)}\n${text.slice(-TAIL_LENGTH)}`

type Counts = {
  words: number
  numbers: number
  lines: number
  questions: number
  sentences: number
  /** Bars of a table, marks of code and of mathematics, lines like "(A) …". */
  bars: number
  code: number
  math: number
  options: number
  howMany: boolean
  readonly cues: [number, number, number, number]
}
type Features = Readonly<Counts> & { readonly length: number }

type Feature = {
  readonly tier: 0 | 1 | 2 | 3
  readonly weight: number
  readonly name: string
  /** How strongly it holds, 0 to 3. */
  readonly holds: (features: Features) => number
}

/** So many marks are code; a form that only code has counts as all of them. */
const CODE_MARKS = 4

const yes = (holds: boolean): number => (holds ? 1 : 0)
const upTo = (most: number, value: number): number => Math.min(most, value)

const FEATURES: readonly Feature[] = [
  { tier: 0, weight: 2, name: 'short', holds: (f) => yes(f.words <= 12 && f.lines <= 1) },
  {
    tier: 0,
    weight: 1,
    name: 'one question',
    holds: (f) => yes(f.questions === 1 && f.words <= 20),
  },
  { tier: 0, weight: 1, name: 'lookup words', holds: (f) => upTo(2, f.cues[0]) },
  { tier: 1, weight: 2, name: 'extraction words', holds: (f) => upTo(2, f.cues[1]) },
  { tier: 1, weight: 2, name: 'long passage', holds: (f) => yes(f.length > 500) },
  { tier: 1, weight: 1, name: 'several lines', holds: (f) => yes(f.lines >= 3) },
  { tier: 2, weight: 2, name: 'aggregation words', holds: (f) => upTo(3, f.cues[2]) },
  { tier: 2, weight: 3, name: 'how many', holds: (f) => yes(f.howMany) },
  { tier: 2, weight: 1, name: 'a table', holds: (f) => yes(f.bars >= 4) },
  { tier: 2, weight: 1, name: 'many numbers', holds: (f) => yes(f.numbers >= 5) },
  { tier: 3, weight: 2, name: 'reasoning words', holds: (f) => upTo(3, f.cues[3]) },
  { tier: 3, weight: 3, name: 'code', holds: (f) => yes(f.code >= CODE_MARKS) },
  { tier: 3, weight: 3, name: 'mathematics', holds: (f) => yes(f.math >= 3) },
  { tier: 3, weight: 3, name: 'options to choose from', holds: (f) => yes(f.options >= 2) },
  {
    tier: 3,
    weight: 3,
    name: 'several statements and a question',
    holds: (f) => yes(f.sentences >= 3 && f.questions > 0 && f.length < 600),
  },
  {
    tier: 3,
    weight: 6,
    name: 'a word problem',
    holds: (f) => yes(f.howMany && f.numbers >= 2 && f.words >= 20 && f.length < 800),
  },
]

const CUES: readonly string[] = [
  'what who where when capital define definition spell weather time date hello hi thanks please ' +
    'call set play remind convert',
  'extract find list identify according passage context document text article paragraph quote ' +
    'label classify translate field fields',
  'total sum average mean median count percentage percent ratio trend compare summarize summarise ' +
    'summary aggregate highest lowest maximum minimum increase decrease change difference overall',
  'prove proof derive theorem why reason reasoning explain step steps deduce infer implement ' +
    'refactor debug optimize algorithm plan design function code program script solve equation ' +
    'integral probability essay suppose assume twice half remaining argue write rewrite reverse',
]
const CUE_TIER: ReadonlyMap<string, number> = new Map(
  CUES.flatMap((words, tier) => words.split(' ').map((word): [string, number] => [word, tier])),
)
const NUMBER_WORDS = new Set(
  'two three four five six seven eight nine ten twelve dozen half twice'.split(' '),
)
/** Cues count where instructions stand: in what is between, a passage speaks for itself. */
const INSTRUCTION_HEAD = 200
const INSTRUCTION_TAIL = 250

function featuresOf(text: string, length: number): Features {
  const counts: Counts = {
    words: 0,
    numbers: 0,
    lines: 1,
    questions: 0,
    sentences: 0,
    bars: 0,
    code: 0,
    math: 0,
    options: 0,
    howMany: false,
    cues: [0, 0, 0, 0],
  }
  const lower = text.toLowerCase()
  const tailFrom = lower.length - INSTRUCTION_TAIL
  let wordFrom = -1
  let previous = ''
  for (let at = 0; at <= lower.length; at++) {
    const code = at < lower.length ? lower.charCodeAt(at) : NEWLINE
    if (isWord(code)) {
      if (wordFrom < 0) wordFrom = at
      continue
    }
    if (wordFrom >= 0) {
      const word = lower.slice(wordFrom, at)
      countWord(counts, word, { previous, isCue: wordFrom < INSTRUCTION_HEAD || at > tailFrom })
      if (isCode(text, wordFrom, at)) counts.code += CODE_MARKS
      previous = word
      wordFrom = -1
    }
    if (at < lower.length) countMark(counts, lower, at)
  }
  return { ...counts, length }
}

type Place = { readonly previous: string; readonly isCue: boolean }

function countWord(counts: Counts, word: string, { previous, isCue }: Place): void {
  counts.words++
  if (isDigit(word.charCodeAt(0)) || NUMBER_WORDS.has(word)) counts.numbers++
  if (!isCue) return
  const tier = CUE_TIER.get(word)
  if (tier !== undefined) counts.cues[tier] = (counts.cues[tier] ?? 0) + 1
  if (previous === 'how' && (word === 'many' || word === 'much')) counts.howMany = true
}

/** Whether a word is the name in `def name(` or `class Name:`, or the value in `return value;`. */
function isCode(text: string, from: number, to: number): boolean {
  const next = text[to] ?? NONE
  const after = text[to + 1] ?? NONE
  const follows = (keyword: string) => text.startsWith(keyword, from - keyword.length)
  if (follows('def ')) return '(_'.includes(next)
  if (follows('return ')) return next === ';' && '\n`}'.includes(after)
  return (
    isCapital(text.charCodeAt(from)) &&
    follows('class ') &&
    '(:{'.includes(next === ' ' ? after : next)
  )
}

function countMark(counts: Counts, text: string, at: number): void {
  const mark = text[at] ?? ''
  if (mark === '\n') {
    counts.lines++
    // "(A) …" at the start of a line.
    if (text[at + 1] === '(' && text[at + 3] === ')') counts.options++
  } else if (mark === '?') counts.questions++
  else if (mark === '|') counts.bars++
  else if (mark === '.' && text[at + 1] === ' ') counts.sentences++
  else if (text.startsWith(FENCE, at)) counts.code += CODE_MARKS
  else if (CODE.includes(mark)) counts.code++
  else if (MATH.includes(mark)) counts.math++
}

const NEWLINE = 10
/** The text ends as a line does. */
const NONE = '\n'
const FENCE = '```'
const CODE = '{};_`='
const MATH = '+*^<>≤≥∑∫√π\\'

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isCapital = (code: number): boolean => code >= 65 && code <= 90
const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || isDigit(code) || (code > 0xbf && code < 0x2000)
