// The form of version ids (objects/sql/common.sql, storage_version_id): no version has another id.
import { storageFault } from '#contract/storage/storage-errors.ts'

/** `null` is the version written while versioning was not enabled. */
export const isVersionId = (text: string): boolean =>
  text === 'null' || /^[0-7][0-9a-f]{31}$/.test(text)

/** Such a marker names a place within the versions `null` of a key, too (objects/create-listings.ts). */
const isPlaceOfNull = (text: string): boolean => /^null\.[0-7][0-9a-f]{15}$/.test(text)

export const MALFORMED_VERSION_ID = 'Invalid version id specified'

/** Throws InvalidArgument unless a page of versions can go on after the text. */
export function checkVersionIdMarker(text: string): void {
  if (!isPlaceOfNull(text)) checkVersionId(text, 'version-id-marker')
}

/** Throws InvalidArgument. `name` is the parameter or header with the id. */
export function checkVersionId(text: string, name = 'versionId'): void {
  if (isVersionId(text)) return
  throw storageFault('InvalidArgument', MALFORMED_VERSION_ID, {
    ArgumentName: name,
    ArgumentValue: text.slice(0, 100),
  })
}
