// GET ?attributes: the attributes of a version as a document.
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { ObjectBody } from '#objects/types.ts'
import type { Access, FoundObject } from '#s3/policy/access.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { attributesPage, type PartsPage } from '#s3/listing/parameters.ts'
import { xmlReply } from '#s3/reply.ts'
import { checksumOfVersion, versionIdHeader } from './version-headers.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

const NAMES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const

/**
 * GetObjectAttributes. Throws NoSuchKey, AccessDenied, InvalidArgument (no attribute, an unknown one, a malformed
 * page).
 */
export const createGetObjectAttributes =
  ({ access, encrypting }: { access: Access; encrypting: Encrypting }): StorageHandler =>
  async (request) => {
    const found = await access.version(request)
    checkReadable(access, request, found)
    // Without the client's key nothing about the object is returned.
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
    const nodes = nodesOf(found, attributesPage(headers))
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

/** The attributes describe the bytes, so the caller must be allowed to read them (AWS, "GetObjectAttributes"). */
function checkReadable(
  access: Access,
  request: StorageRequest,
  { bucket, version }: FoundObject,
): void {
  const versionId = request.body.target.query.get('versionId')
  const action = versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion'
  if (!access.allows(request, bucket, { action, key: version.key, versionId, version }))
    throw storageFault('AccessDenied')
}

function nodesOf({ version, body }: FoundObject, page: PartsPage) {
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

function partsOf(body: ObjectBody, total: number, { after, max }: PartsPage): XmlNode[1] {
  const parts = body.kind === 'parts' ? body.parts : []
  const rest = parts.filter(({ number }) => number > after)
  const shown = rest.slice(0, max)
  return [
    ['PartsCount', total],
    ['PartNumberMarker', after],
    ['NextPartNumberMarker', shown.at(-1)?.number ?? after],
    ['MaxParts', max],
    ['IsTruncated', shown.length < rest.length],
    ...shown.map((part): XmlNode => {
      const checksum = checksumOfVersion(part.checksums)
      return [
        'Part',
        [
          ['PartNumber', part.number],
          ['Size', part.size],
          ...(checksum ? [[`Checksum${checksum.algorithm}`, checksum.text] as const] : []),
        ],
      ]
    }),
  ]
}
