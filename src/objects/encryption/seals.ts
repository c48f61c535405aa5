// The wrapped keys of a version: of its inline body or of its parts, and of its annotations. They are wrapped anew
// together, so that one key opens all of a version.
import type { ObjectBody, Json, JsonObject, Seals, Version } from '#objects/types.ts'
import type { Encryption } from './encryption.ts'

export const sealsOf = (
  version: Pick<Version, 'encryption' | 'annotations'>,
  body: ObjectBody,
): Seals => ({
  encryption: version.encryption,
  parts: body.kind === 'parts' ? body.parts.map(({ encryption }) => encryption) : null,
  sheetKey: version.annotations?.key ?? null,
})

/**
 * The seals of an encrypted version with each key wrapped by `wrap`, under the given encryption. When `wrap` returns
 * undefined the envelope stays.
 */
export function resealed(
  seals: Seals,
  encryption: Encryption,
  wrap: (envelope: Json) => Json | undefined,
): Seals {
  const again = (envelope: Json): Json => (envelope === null ? null : (wrap(envelope) ?? envelope))
  const { envelope } = seals.encryption as JsonObject
  return {
    encryption: { ...encryption, ...(envelope === undefined ? {} : { envelope: again(envelope) }) },
    parts: seals.parts?.map(again) ?? null,
    sheetKey: again(seals.sheetKey),
  }
}
