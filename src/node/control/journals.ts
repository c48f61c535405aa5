// The operator's operations on journals that a start kept.
import type { NODE_CONTROL } from '#contract/node/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { KeptJournals } from '#node/kept-journals.ts'

export const journalHandlers = (kept: KeptJournals) =>
  ({
    'journal.list': () => kept.list(),
    'journal.post': ({ process }) => kept.post(process),
    'journal.drop': ({ process }) => kept.drop(process),
  }) satisfies Partial<ControlHandlers<typeof NODE_CONTROL>>
