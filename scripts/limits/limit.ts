// The form of a limit, and its figures in words.
import { ERRORS, type Code } from '#contract/errors.ts'

/** The code of a refusal, or in words what happens instead. */
export type Beyond = { readonly code: Code } | { readonly words: string }
export type Limit = readonly [what: string, figure: string, beyond: Beyond]
export type LimitSection = {
  readonly title: string
  readonly intro?: string
  readonly limits: readonly Limit[]
}

export const code = (name: Code): Beyond => ({ code: name })
export const words = (text: string): Beyond => ({ words: text })
export const count = (figure: number): string => figure.toLocaleString('en-US')
export const seconds = (ms: number): string => `${count(ms / 1000)} s`
const UNITS = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
] as const
export function bytes(figure: number): string {
  const [size, unit] = UNITS.find(([one]) => figure % one === 0) ?? [1, 'bytes']
  return `${count(figure / size)} ${unit}`
}

export const beyondText = (beyond: Beyond): string =>
  'code' in beyond ? `${ERRORS[beyond.code].status} \`${beyond.code}\`` : beyond.words
