// For tests: small wheels that pip accepts, with catalogues that name them.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'

import type { Artifact } from './catalogue.ts'

type ZipFile = { readonly path: string; readonly bytes: Buffer; readonly raw: Buffer }
type Oddity = { readonly method?: 0 | 8; readonly declaredBytes?: number }

/** One file of an archive: `raw` is its local header and data, preceded by its directory entry's fields. */
export function zipFile(
  path: string,
  bytes: Buffer,
  { method = 8, declaredBytes = bytes.length }: Oddity = {},
): ZipFile & { readonly fields: Buffer } {
  const packed = method === 8 ? deflateRawSync(bytes) : bytes
  const name = Buffer.from(path)
  // Version, flags, method, time, date, CRC-32, sizes, lengths of name and extra: the same in both
  // headers of an entry (APPNOTE.TXT 4.3.7 and 4.3.12).
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(method, 4)
  fields.writeUInt32LE(crc32(bytes), 10)
  fields.writeUInt32LE(packed.length, 14)
  fields.writeUInt32LE(declaredBytes, 18)
  fields.writeUInt16LE(name.length, 22)
  return {
    path,
    bytes,
    fields,
    raw: Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]),
  }
}

export function makeZip(files: readonly ReturnType<typeof zipFile>[]): Buffer {
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, fields, raw } of files) {
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, rest, Buffer.from(path))
    offset += raw.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files.map(({ raw }) => raw), entries, end])
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Writes the wheel of a package with one payload into a folder; the artifact that names it. */
export function makeArtifact(folder: string, name: string, payload: Buffer): Artifact {
  const info = `${name}-1.0.0.dist-info`
  const wheel = makeZip([
    zipFile(`${name}/payload.bin`, payload),
    zipFile(
      `${info}/METADATA`,
      Buffer.from(`Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0.0\n`),
    ),
    zipFile(
      `${info}/WHEEL`,
      Buffer.from('Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    ),
    zipFile(`${info}/RECORD`, Buffer.alloc(0)),
  ])
  const file = `${name}-1.0.0-py3-none-any.whl`
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), wheel)
  const entry = { path: `${name}/payload.bin`, sizeBytes: payload.length, sha256: sha256(payload) }
  const tags = { platform: 'any', pythonVersion: '3.11', implementation: 'py', abi: 'none' }
  const entries = [{ ...entry, executable: false }]
  return {
    name,
    kind: 'runtime',
    use: 'a test',
    licence: 'none',
    package: name,
    version: '1.0.0',
    wheels: [{ arch: 'any', file, sizeBytes: wheel.length, sha256: sha256(wheel), tags, entries }],
  }
}
