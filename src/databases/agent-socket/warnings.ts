// The warning that new sessions of a database begin with: of a full database before that of an energy budget.
import type { FatalError } from '#wire/messages.ts'

const SOURCES = ['size', 'budget'] as const
export type WarningSource = (typeof SOURCES)[number]

export interface Warnings {
  /** Sets or removes the warning of one source. */
  set(id: string, source: WarningSource, warning: FatalError | undefined): void
  /** The warning in force. */
  of(id: string): FatalError | undefined
  /** Forgets a database whose server has stopped. */
  forget(id: string): void
}

/** `tell` is called when the warning in force may be another one. */
export function createWarnings(tell: (id: string) => void): Warnings {
  const all = new Map<string, Map<WarningSource, FatalError>>()
  return {
    set(id, source, warning) {
      const own = all.get(id) ?? new Map<WarningSource, FatalError>()
      if (warning === undefined && !own.has(source)) return
      all.set(id, own)
      if (warning === undefined) own.delete(source)
      else own.set(source, warning)
      tell(id)
    },
    of(id) {
      const own = all.get(id)
      return SOURCES.map((one) => own?.get(one)).find((one) => one !== undefined)
    },
    forget(id) {
      if (all.delete(id)) tell(id)
    },
  }
}
