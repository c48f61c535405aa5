// The arguments of every command's function.
import type { GlobalOptions } from './profile.ts'

export type CommandCall = {
  readonly options: GlobalOptions & Readonly<Record<string, string | boolean | undefined>>
  readonly words: readonly string[]
  /** The usage of every command: 'admin token create'. */
  readonly usages: readonly string[]
}

/** An option that takes a value; undefined when it is not given. */
export function textOption(options: CommandCall['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}
