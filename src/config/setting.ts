// A setting: its name, its check, and its purpose.
import type { z } from 'zod'

export type Setting = {
  /** In the environment. */
  readonly name: string
  /** On the command line; that of a secret names a file that holds it. */
  readonly flag: string
  readonly isSecret?: boolean
  readonly help: string
  /** From the given text; its default where nothing is given. */
  readonly check: z.ZodType
}
/** By the key that the config has of it. */
export type Settings = Readonly<Record<string, Setting>>
