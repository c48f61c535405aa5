// Operator operations on the named keys of object storage.
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import { rotatedKeys, rotateKey } from '#objects/encryption/key-versions.ts'
import type { ControlRoute } from '#node/control/control.ts'

/** `keyIds` are the names of ERGON_STORAGE_KMS_KEYS. */
export const storageKeyRoutes = (deps: {
  state: State
  keyIds: readonly string[]
}): readonly ControlRoute[] => [
  {
    method: 'GET',
    path: /^\/storage\/keys$/,
    handle: async () => {
      const rotated = new Map((await rotatedKeys(deps.state)).map((key) => [key.name, key]))
      return deps.keyIds.map((name) => {
        const { version = 1, wrapped = 1, rotatedAt } = rotated.get(name) ?? {}
        return { name, version, wrapped_by: wrapped, rotated_at: rotatedAt ?? null }
      })
    },
  },
  {
    method: 'POST',
    path: /^\/storage\/keys\/([^/]+)\/rotate$/,
    handle: async ({ parameters: [name = ''] }) => {
      if (!deps.keyIds.includes(name))
        throw fault(
          'not_found',
          `Could not rotate the key: "${name}" is not in ERGON_STORAGE_KMS_KEYS`,
        )
      return { name, version: await rotateKey(deps.state, name) }
    },
  },
]
