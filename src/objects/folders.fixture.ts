// Tools for tests of the table of folders: puts, deletions and lists of keys, the rows, and a check of all rows.
import { checkFolders, type WrongFolder } from './upkeep/check-folders.ts'
import { inlineObject, type Store } from './store.fixture.ts'
import type { Bucket } from './types.ts'

const { signal } = new AbortController()

/** The tools of a test file; `storeOf` gives its store once that is open. */
export function folderTools(storeOf: () => Store) {
  return {
    put: (bucket: Bucket, key: string, conditions = {}) =>
      storeOf().objects.put(bucket, key, { ...inlineObject(key), conditions }),
    remove: (bucket: Bucket, ...keys: string[]) =>
      storeOf().objects.delete(
        bucket,
        keys.map((key) => ({ key })),
        { bypassGovernance: false },
      ),
    listed: (bucket: Bucket, prefix = '') =>
      storeOf().listings.objects(bucket, { prefix, delimiter: '/', after: '', limit: 1000 }),
    async rowsOf(bucket: Bucket): Promise<string[]> {
      const { rows } = await storeOf().state.query<{ row: string }>(
        `select parent || '|' || name as row from object_folders where bucket = $1 order by 1`,
        [bucket.id],
      )
      return rows.map(({ row }) => row)
    },
    /** Runs checks of a query each to the end of every pass. Returns the wrong folders. */
    async checkAll(): Promise<WrongFolder[]> {
      const { state } = storeOf()
      await state.query("delete from storage_upkeep where task like 'folders:%'")
      const wrong: WrongFolder[] = []
      const onDamage = async (found: readonly WrongFolder[]) => void wrong.push(...found)
      const onUnreadable = async () => undefined
      // Rows of own keys are read a block at a time: the tests of a file make some twenty.
      for (let call = 0; call < 30; call++)
        await checkFolders(state, { rowsMax: 1, signal, onDamage, onUnreadable })
      return wrong
    },
  }
}
