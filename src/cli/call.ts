// The arguments of every command's function.
import type { GlobalOptions } from './profile.ts'

export type CommandCall = {
  readonly options: GlobalOptions & Readonly<Record<string, string | boolean | undefined>>
  readonly words: readonly string[]
  /** The usage of every command: 'admin token create'. */
  readonly usages: readonly string[]
}

/** The values of an option that may be given several times, in the order of the line. */
export function listOption(options: CommandCall['options'], name: string): readonly string[] {
  const value: unknown = options[name]
  return Array.isArray(value) ? value.map(String) : []
}

/** An option that takes a value; undefined when it is not given. */
export function textOption(options: CommandCall['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}
