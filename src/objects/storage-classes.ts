// The storage classes of AWS that can be read at once. All bytes are stored alike: the class is a label that is kept
// and returned. Archive classes (GLACIER, DEEP_ARCHIVE) are refused, because clients would first restore such
// objects.
import { storageFault } from '#contract/storage/storage-errors.ts'

/** In the order of lifecycle transitions; no transition goes back. */
const WATERFALL = ['STANDARD_IA', 'INTELLIGENT_TIERING', 'ONEZONE_IA', 'GLACIER_IR'] as const
const ARCHIVES: readonly string[] = ['GLACIER', 'DEEP_ARCHIVE']

const CLASSES: ReadonlySet<string> = new Set(['STANDARD', 'REDUCED_REDUNDANCY', ...WATERFALL])

/** The position in the transition order; 0 for the classes of new objects. */
export const depthOf = (storageClass: string): number =>
  WATERFALL.findIndex((name) => name === storageClass) + 1

export const isTransitionTarget = (name: string): boolean => depthOf(name) > 0
export const isArchive = (name: string): boolean => ARCHIVES.includes(name)

/** The class that a write asks for; STANDARD when absent. Throws InvalidStorageClass. */
export function storageClassOf(given: string | string[] | undefined): string {
  const name = given === undefined ? 'STANDARD' : String(given)
  if (CLASSES.has(name)) return name
  throw invalidStorageClass(name)
}

export const invalidStorageClass = (name: string) =>
  storageFault('InvalidStorageClass', undefined, { StorageClassRequested: name.slice(0, 100) })
