// The scorer's features of a text: counts of words, marks and cues, made in one pass over at most 800 characters. No
// regular expressions, so that no text can make it slow.
import { LEXICON, type CueTiers, type Word } from './cues.ts'

type PerTier = [number, number, number, number]

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
  quantifiers: number
  /** "if" and its like. */
  conditions: number
  howMany: boolean
  /** A text to work on follows a colon, or stands in quotes. */
  hasGiven: boolean
  /** Cues of each tier: 2 in an instruction, 1 in a text to work on. */
  readonly cues: PerTier
  /** Cues that a sentence begins with. */
  readonly commands: PerTier
}
/** `length` is that of the whole text. */
export type Features = Readonly<Counts> & { readonly length: number }

/** The number of marks that make a text code; a form that only code has counts as all of them. */
export const CODE_MARKS = 4

const HEAD_LENGTH = 350
const TAIL_LENGTH = 450
/** Cues count where instructions stand: the middle is a passage, whose words are no instruction. */
const INSTRUCTION_HEAD = 200
const INSTRUCTION_TAIL = 250

/** Looks at the head and the tail of a text. */
export function featuresOf(whole: string): Features {
  const text = clip(whole)
  const lower = text.toLowerCase()
  const reader = createReader(text, lower)
  let wordFrom = -1
  for (let at = 0; at <= lower.length; at++) {
    const code = at < lower.length ? lower.charCodeAt(at) : NEWLINE
    if (isWord(code)) {
      if (wordFrom < 0) wordFrom = at
      continue
    }
    if (wordFrom >= 0) reader.word(wordFrom, at)
    wordFrom = -1
    if (isIdeogram(code)) reader.ideogram(at)
    // Half of what stands between words, and it means nothing.
    else if (code !== SPACE && at < lower.length) reader.mark(at)
  }
  return { ...reader.counts, length: whole.length }
}

const clip = (text: string): string =>
  text.length <= HEAD_LENGTH + TAIL_LENGTH
    ? text
    : `${text.slice(0, HEAD_LENGTH)}\n${text.slice(-TAIL_LENGTH)}`

function createReader(text: string, lower: string) {
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
    quantifiers: 0,
    conditions: 0,
    howMany: false,
    hasGiven: false,
    cues: [0, 0, 0, 0],
    commands: [0, 0, 0, 0],
  }
  const tailFrom = lower.length - INSTRUCTION_TAIL
  let previous: Word | undefined
  let isOpening = true
  let isGiven = false

  function cue(tiers: CueTiers | undefined, at: number): void {
    if (tiers === undefined || (at >= INSTRUCTION_HEAD && at <= tailFrom)) return
    for (const tier of tiers) {
      counts.cues[tier] += isGiven ? 1 : 2
      if (isOpening && !isGiven) counts.commands[tier]++
    }
  }

  function word(from: number, to: number): void {
    const said = lower.slice(from, to)
    const known = LEXICON.get(said)
    counts.words++
    if (known?.isNumber === true || isDigit(said.charCodeAt(0))) counts.numbers++
    if (previous === HOW && (said === 'many' || said === 'much')) counts.howMany = true
    cue(previous?.pairs.get(said), from)
    if (known !== undefined) {
      if (known.isQuantifier === true) counts.quantifiers++
      if (known.isCondition === true) counts.conditions++
      cue(known.cues, from)
      if (isOpening) cue(known.openingCues, from)
    }
    if (isCode(text, from, to)) counts.code += CODE_MARKS
    previous = known
    if (known?.isOpening !== true) isOpening = false
  }

  function ideogram(at: number): void {
    // Most words of Chinese have two of them.
    counts.words += 0.5
    cue(LEXICON.get(lower.slice(at, at + 2))?.cues, at)
    isOpening = false
  }

  function mark(at: number): void {
    const one = lower[at] ?? ''
    countMark(counts, lower, at)
    const next = lower[at + 1] ?? NONE
    const endsSentence = '.?!'.includes(one) && (next === ' ' || next === NONE)
    if (one === '\n') isGiven = false
    if (one === '\n' || endsSentence || '。？！'.includes(one)) isOpening = true
    const opensGiven = (one === ':' && (next === ' ' || next === NONE)) || QUOTES.includes(one)
    if (!opensGiven && one !== '：') return
    if (counts.words >= 2 && at + GIVEN_LENGTH < lower.length) counts.hasGiven = true
    isGiven = counts.hasGiven
  }

  return { counts, word, ideogram, mark }
}

const HOW = LEXICON.get('how')
const QUOTES = '"“„«'
/** The least length after a colon of a text to work on. */
const GIVEN_LENGTH = 8

/** True for the name in `def name(` or `class Name:`, or the value in `return value;`. */
function isCode(text: string, from: number, to: number): boolean {
  // The last letters of the three keywords: nearly no word has one of these before it.
  if (!KEYWORD_ENDS.includes(text.charCodeAt(from - 2))) return false
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

const KEYWORD_ENDS = ['f', 'n', 's'].map((letter) => letter.charCodeAt(0))

function countMark(counts: Counts, text: string, at: number): void {
  const mark = text[at] ?? ''
  if (mark === '\n') {
    counts.lines++
    // "(A) …" at the start of a line.
    if (text[at + 1] === '(' && text[at + 3] === ')') counts.options++
  } else if (mark === '?' || mark === '？') counts.questions++
  else if (mark === '|') counts.bars++
  else if ((mark === '.' && ' \n'.includes(text[at + 1] ?? ' ')) || mark === '。')
    counts.sentences++
  else if (text.startsWith(FENCE, at)) counts.code += CODE_MARKS
  else if (CODE.includes(mark)) counts.code++
  else if (MATH.includes(mark)) counts.math++
}

const NEWLINE = 10
const SPACE = 32
/** The text ends as a line does. */
const NONE = '\n'
const FENCE = '```'
const CODE = '{};_`='
const MATH = '+*^<>≤≥∑∫√π\\·×÷²³'

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isCapital = (code: number): boolean => code >= 65 && code <= 90
const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  isDigit(code) ||
  (code > 0xbf && code < 0x2000 && code !== TIMES && code !== DIVIDED)
const TIMES = 0xd7
const DIVIDED = 0xf7
const isIdeogram = (code: number): boolean => code >= 0x3040 && code < 0xff00
