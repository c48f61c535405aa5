// Files of builds before: an open page may still ask for them, and the service reads at most 4,000 files of a folder.

/** They stay for this time, the newest ones first. */
const KEPT_MS = 86_400_000
/** Of all builds, compressed forms included; a build has 600. */
const FILES_MAX = 3000

export type BuiltFile = { readonly name: string; readonly changedMs: number }

/** The names of the files to remove. `names` are those of the newest build. */
export function filesToRemove(
  files: readonly BuiltFile[],
  names: ReadonlySet<string>,
  nowMs: number,
): readonly string[] {
  const old = files
    .filter(({ name }) => !names.has(name))
    .toSorted((one, other) => other.changedMs - one.changedMs)
  const keptMax = Math.max(0, FILES_MAX - names.size)
  return old
    .filter(({ changedMs }, nth) => nth >= keptMax || nowMs - changedMs > KEPT_MS)
    .map(({ name }) => name)
}
