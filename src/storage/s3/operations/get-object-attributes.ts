// GET ?attributes: what is known of a version, as a document.
import { storageFault } from '#storage/errors.ts'
import type { Body } from '#storage/objects/types.ts'
import type { Found } from '#storage/s3/access.ts'
import type { StorageHandler } from '#storage/s3/call.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import { xmlReply } from '#storage/s3/reply.ts'
import { checksumOfVersion, versionIdHeader } from '#storage/s3/version-headers.ts'
import { writeXml, type XmlNode } from '#storage/s3/xml/write.ts'

const NAMES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
const PARTS_MAX = 1000

/** GetObjectAttributes. Throws NoSuchKey, InvalidArgument (no attribute, or one that is not known). */
export const createGetObjectAttributes =
  ({ access, encrypting }: StorageDeps): StorageHandler =>
  async (request) => {
    const found = await access.version(request)
    // Who has not the key is told nothing of what it opens.
    encrypting.reading(request, found.version)
    const { headers } = request.body
    const asked = String(headers['x-amz-object-attributes'] ?? '')
      .split(',')
      .map((name) => name.trim())
    const wanted = NAMES.filter((name) => asked.includes(name))
    if (wanted.length === 0 || wanted.length < new Set(asked).size)
      throw storageFault('InvalidArgument', 'Invalid attribute name specified.', {
        ArgumentName: 'x-amz-object-attributes',
      })
    const after = Number(headers['x-amz-part-number-marker'] ?? 0)
    const max = Math.min(Number(headers['x-amz-max-parts'] ?? PARTS_MAX), PARTS_MAX)
    const nodes = nodesOf(found, { after, max })
    const { bucket, version } = found
    return xmlReply(
      writeXml(
        'GetObjectAttributesResponse',
        wanted.map((name): XmlNode => [name, nodes[name]]),
      ),
      {
        'last-modified': new Date(version.modifiedAtMs).toUTCString(),
        ...versionIdHeader(bucket, version.versionId),
      },
    )
  }

function nodesOf({ version, body }: Found, page: { after: number; max: number }) {
  const checksum = checksumOfVersion(version.checksums)
  return {
    ETag: version.etag,
    Checksum: checksum && [
      [`Checksum${checksum.algorithm}`, checksum.text],
      ['ChecksumType', checksum.type],
    ],
    ObjectParts: version.partCount === 0 ? undefined : partsOf(body, version.partCount, page),
    StorageClass: version.storageClass,
    ObjectSize: version.size,
  } as const satisfies Record<(typeof NAMES)[number], XmlNode[1]>
}

function partsOf(
  body: Body,
  total: number,
  { after, max }: { after: number; max: number },
): XmlNode[1] {
  const parts = body.kind === 'parts' ? body.parts : []
  const shown = parts.slice(after, after + max)
  return [
    ['PartsCount', total],
    ['PartNumberMarker', after],
    ['NextPartNumberMarker', after + shown.length],
    ['MaxParts', max],
    ['IsTruncated', after + shown.length < total],
    ...shown.map((part, index): XmlNode => {
      const checksum = checksumOfVersion(part.checksums)
      return [
        'Part',
        [
          ['PartNumber', after + index + 1],
          ['Size', part.size],
          ...(checksum ? [[`Checksum${checksum.algorithm}`, checksum.text] as const] : []),
        ],
      ]
    }),
  ]
}
