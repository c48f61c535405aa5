// The storage classes of AWS that are read like any other. Here all are stored alike: a class is a label, which is kept
// and told. Of an object in an archive class (GLACIER, DEEP_ARCHIVE) clients believe that they must have it restored
// first, so there is none.
import { storageFault } from '#contract/storage-errors.ts'

/** From the first to the last that a lifecycle moves an object through; none goes back. */
const WATERFALL = ['STANDARD_IA', 'INTELLIGENT_TIERING', 'ONEZONE_IA', 'GLACIER_IR'] as const
const ARCHIVES: readonly string[] = ['GLACIER', 'DEEP_ARCHIVE']

const CLASSES: ReadonlySet<string> = new Set(['STANDARD', 'REDUCED_REDUNDANCY', ...WATERFALL])

/** How far down an object of a class is: 0 for those where objects begin. */
export const depthOf = (storageClass: string): number =>
  WATERFALL.findIndex((name) => name === storageClass) + 1

export const isTransitionTarget = (name: string): boolean => depthOf(name) > 0
export const isArchive = (name: string): boolean => ARCHIVES.includes(name)

/** The class of a header that may be absent. Throws InvalidStorageClass. */
export function storageClassOf(given: string | string[] | undefined): string {
  const name = given === undefined ? 'STANDARD' : String(given)
  if (CLASSES.has(name)) return name
  throw invalidStorageClass(name)
}

export const invalidStorageClass = (name: string) =>
  storageFault('InvalidStorageClass', undefined, { StorageClassRequested: name.slice(0, 100) })
