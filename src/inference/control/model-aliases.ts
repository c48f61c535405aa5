// The operator's operations on further names of models.
import type { INFERENCE_CONTROL } from '#contract/inference/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { addAlias, readAliases, removeAlias } from '#inference/models/aliases.ts'
import type { State } from '#state/connect.ts'

/** `confirmed` resolves when the gateways know the current aliases. */
export const aliasHandlers = ({
  state,
  confirmed,
}: {
  state: State
  confirmed: () => Promise<void>
}) =>
  ({
    'alias.list': async () =>
      [...(await readAliases(state))].map(([name, model]) => ({ name, model })),
    'alias.add': async ({ name, model }) => {
      await addAlias(state, name, model)
      await confirmed()
      return { name, model }
    },
    'alias.remove': async ({ name }) => {
      await removeAlias(state, name)
      await confirmed()
      return { name, removed: true as const }
    },
  }) satisfies Partial<ControlHandlers<typeof INFERENCE_CONTROL>>
