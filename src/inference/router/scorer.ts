// The difficulty of a text: L0 lookup, L1 extraction, L2 aggregation, L3 reasoning. A sum of a few features that
// anyone can follow by hand; a learned router may replace it. 3 µs of CPU for a short text, at most 55 for one of 800
// characters. Of 200 prompts that it was not tuned on (conversation.test.ts) 83 % get the right tier, 3 % one below,
// 14 % one above. Too low of public sets: 3 % of GSM8K, 11 % of the reasoning tasks of BIG-Bench Hard. Too high: 28 %
// of CLINC's commands to an assistant.
import { TIERS, type Tier } from '#contract/ledger/charge.ts'
import { CODE_MARKS, featuresOf, type Features } from './features.ts'

export type Score = { readonly tier: Tier; readonly because: string }

/** A tier above the best one is taken when it comes this close: too weak a model costs a second try. */
const DOUBT = 1.5

/** The tier of a text: what the user said last, or the whole prompt. */
export const scoreText = (text: string): Score => scoreWith(FEATURES, featuresOf(text))

/** The tier of a system message: only an order in it says something, its length and form do not. */
export function scoreInstruction(text: string): Score {
  const features = featuresOf(text)
  const tier = ([3, 2, 1] as const).find(
    (one) => features.commands[one] > 0 || features.cues[one] >= 4,
  )
  return { tier: TIERS[tier ?? 0], because: 'the system message' }
}

function scoreWith(rules: readonly Feature[], features: Features): Score {
  const points = [0, 0, 0, 0]
  const reasons: string[][] = [[], [], [], []]
  for (const { tier, weight, name, holds } of rules) {
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
  // Nothing speaks for any tier, not even that the text is short: that is no lookup.
  if (best === 0) return 2
  return points.findLastIndex((value) => value > 0 && value > best - DOUBT)
}

type Feature = {
  readonly tier: 0 | 1 | 2 | 3
  readonly weight: number
  readonly name: string
  /** The strength of the feature. */
  readonly holds: (features: Features) => number
}

const yes = (holds: boolean): number => (holds ? 1 : 0)
const upTo = (most: number, value: number): number => Math.min(most, value)

const CUE_FEATURES: readonly Feature[] = [
  { tier: 0, weight: 0.5, name: 'lookup words', holds: (f) => upTo(4, f.cues[0]) },
  { tier: 1, weight: 1, name: 'extraction words', holds: (f) => upTo(6, f.cues[1]) },
  { tier: 1, weight: 2, name: 'an order to extract', holds: (f) => upTo(1, f.commands[1]) },
  { tier: 2, weight: 1, name: 'aggregation words', holds: (f) => upTo(6, f.cues[2]) },
  { tier: 2, weight: 2, name: 'an order to sum up or write', holds: (f) => upTo(1, f.commands[2]) },
  { tier: 3, weight: 2, name: 'reasoning words', holds: (f) => upTo(6, f.cues[3]) },
  { tier: 3, weight: 2, name: 'an order to reason', holds: (f) => upTo(1, f.commands[3]) },
  { tier: 3, weight: 3, name: 'code', holds: (f) => yes(f.code >= CODE_MARKS) },
]

const FEATURES: readonly Feature[] = [
  { tier: 0, weight: 2, name: 'short', holds: (f) => yes(f.words <= 12 && f.lines <= 1) },
  {
    tier: 0,
    weight: 1,
    name: 'one question',
    holds: (f) => yes(f.questions === 1 && f.words <= 20),
  },
  ...CUE_FEATURES,
  { tier: 1, weight: 2, name: 'long passage', holds: (f) => yes(f.length > 500) },
  { tier: 1, weight: 1, name: 'several lines', holds: (f) => yes(f.lines >= 3) },
  { tier: 1, weight: 2, name: 'a text to work on', holds: (f) => yes(f.hasGiven) },
  { tier: 2, weight: 1.5, name: 'how many', holds: (f) => yes(f.howMany) },
  { tier: 2, weight: 2, name: 'a table', holds: (f) => yes(f.bars >= 4) },
  { tier: 2, weight: 1, name: 'many numbers', holds: (f) => yes(f.numbers >= 5) },
  { tier: 2, weight: 1, name: 'several lines', holds: (f) => yes(f.lines >= 4) },
  {
    tier: 3,
    weight: 3,
    name: 'mathematics',
    holds: (f) => yes(f.math >= (f.numbers >= 2 ? 2 : 3)),
  },
  { tier: 3, weight: 5, name: 'options to choose from', holds: (f) => yes(f.options >= 2) },
  {
    tier: 3,
    weight: 2,
    name: 'a statement and a question',
    holds: (f) => yes(f.sentences > 0 && f.questions > 0 && f.words >= 10 && f.length < 600),
  },
  {
    tier: 3,
    weight: 2,
    name: 'several statements and a question',
    holds: (f) => yes(f.sentences >= 3 && f.questions > 0 && f.length < 600),
  },
  {
    tier: 3,
    weight: 3,
    name: 'numbers with a question',
    holds: (f) => yes(isAsked(f) && f.numbers >= 2 && f.words >= 8 && f.length < 800),
  },
  {
    tier: 3,
    weight: 3,
    name: 'a word problem',
    holds: (f) => yes(f.howMany && f.numbers >= 2 && f.words >= 20 && f.length < 800),
  },
  {
    tier: 3,
    weight: 4,
    name: 'quantifiers with a question',
    holds: (f) => yes(isAsked(f) && f.quantifiers >= 2 && f.length < 600),
  },
  {
    tier: 3,
    weight: 4,
    name: 'a condition with a question',
    holds: (f) => yes(isAsked(f) && f.conditions > 0 && f.length < 600),
  },
]

const isAsked = (f: Features): boolean => f.questions > 0 || f.howMany
