// The object store as plain maps: what S3 says should happen, for the property test to compare with.
import type { Versioning } from './types.ts'

export type ModelVersion = {
  readonly key: string
  /** The version of the real store: the model cannot know it. */
  readonly versionId: string
  readonly deleteMarker: boolean
  readonly etag: string
  readonly size: number
}

export class Model {
  versioning: Versioning = 'off'
  /** Newest first. */
  readonly keys = new Map<string, ModelVersion[]>()
  readonly uploads: { key: string; id: string }[] = []

  latest(key: string): ModelVersion | undefined {
    const [first] = this.keys.get(key) ?? []
    return first?.deleteMarker === true ? undefined : first
  }
  put(version: ModelVersion): void {
    const before = this.keys.get(version.key) ?? []
    const kept = before.filter(
      ({ versionId }) => versionId !== 'null' || this.versioning === 'enabled',
    )
    this.keys.set(version.key, [version, ...kept])
  }
  /** Removes all or hides behind a marker; what is there afterwards is said by `versionId`. */
  delete(key: string, versionId: string | undefined): void {
    if (this.versioning === 'off') this.keys.delete(key)
    else this.put({ key, versionId: versionId ?? '', deleteMarker: true, etag: '', size: 0 })
  }
  deleteVersion(key: string, versionId: string): void {
    const rest = (this.keys.get(key) ?? []).filter((version) => version.versionId !== versionId)
    if (rest.length > 0) this.keys.set(key, rest)
    else this.keys.delete(key)
  }
  versions(): ModelVersion[] {
    return sorted([...this.keys.keys()]).flatMap((key) => this.keys.get(key) ?? [])
  }
  objects(): ModelVersion[] {
    return sorted([...this.keys.keys()]).flatMap((key) => this.latest(key) ?? [])
  }
}

const sorted = (keys: string[]): string[] => keys.toSorted(byBytes)
export const byBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b))

export type ModelQuery = { prefix: string; delimiter: string; after: string }

/** Entries and common prefixes after a name, in order: `name` is a key or a common prefix. */
export function modelList<T extends { readonly key: string }>(
  items: readonly T[],
  { prefix, delimiter, after }: ModelQuery,
): { name: string; item?: T }[] {
  const found: { name: string; item?: T }[] = []
  for (const item of items) {
    if (!item.key.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : item.key.indexOf(delimiter, prefix.length)
    if (at < 0) {
      if (byBytes(item.key, after) > 0 || after === '') found.push({ name: item.key, item })
      continue
    }
    const common = item.key.slice(0, at + delimiter.length)
    if (after.startsWith(common) || byBytes(item.key, after) <= 0) continue
    if (found.at(-1)?.name !== common) found.push({ name: common })
  }
  return found
}
