// Operator operations on further names of models.
import { addAlias, readAliases, removeAlias } from '#inference/models/aliases.ts'
import type { State } from '#state/connect.ts'
import { textOf, type ControlRoute } from '#node/control/control.ts'

/** `confirmed` resolves when the gateways know what the table says. */
export const modelAliasRoutes = ({
  state,
  confirmed,
}: {
  state: State
  confirmed: () => Promise<void>
}): readonly ControlRoute[] => [
  {
    method: 'GET',
    path: /^\/model-aliases$/,
    handle: async () => [...(await readAliases(state))].map(([name, model]) => ({ name, model })),
  },
  {
    method: 'POST',
    path: /^\/model-aliases$/,
    members: ['name', 'model'],
    handle: async ({ body }) => {
      const [name, model] = [textOf(body, 'name'), textOf(body, 'model')]
      await addAlias(state, name, model)
      await confirmed()
      return { name, model }
    },
  },
  {
    method: 'DELETE',
    path: /^\/model-aliases\/([^/]+)$/,
    handle: async ({ parameters: [name = ''] }) => {
      await removeAlias(state, name)
      await confirmed()
      return { name, removed: true }
    },
  },
]
