// The operator's operations on the named keys of object storage.
import type { STORAGE_CONTROL } from '#contract/storage/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { fault } from '#contract/errors.ts'
import type { State } from '#state/connect.ts'
import { rotatedKeys, rotateKey } from '#objects/encryption/key-versions.ts'

/** `keyIds` are the names of ERGON_STORAGE_KMS_KEYS. */
export const storageKeyHandlers = ({
  state,
  keyIds,
}: {
  state: State
  keyIds: readonly string[]
}) =>
  ({
    'storage-key.list': async () => {
      const rotated = new Map((await rotatedKeys(state)).map((key) => [key.name, key]))
      return keyIds.map((name) => {
        const { version = 1, wrapped = 1, rotatedAt } = rotated.get(name) ?? {}
        return { name, version, wrapped_by: wrapped, rotated_at: rotatedAt ?? null }
      })
    },
    'storage-key.rotate': async ({ name }) => {
      if (!keyIds.includes(name))
        throw fault(
          'not_found',
          `Could not rotate the key: "${name}" is not in ERGON_STORAGE_KMS_KEYS`,
        )
      return { name, version: await rotateKey(state, name) }
    },
  }) satisfies Partial<ControlHandlers<typeof STORAGE_CONTROL>>
