// Images of tests: layers made of entries, and a layout of them in a folder.
import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack, type Header } from 'tar-stream'

export type TestEntry = Partial<Header> & { readonly name: string; readonly text?: string }

/** A tar of these entries. */
export async function layerOf(entries: readonly TestEntry[]): Promise<Buffer> {
  const packed = pack()
  const bytes = buffer(packed)
  for (const { text = '', ...header } of entries)
    packed.entry({ size: Buffer.byteLength(text), ...header } as Header, text)
  packed.finalize()
  return await bytes
}

export const digestOf = (bytes: Buffer): string => `sha256:${hash('sha256', bytes)}`

export type TestImage = {
  readonly layers: readonly Buffer[]
  readonly config?: object
  readonly architecture?: string
  readonly compress?: (layer: Buffer) => Buffer
}

/** Writes a layout with one image to the folder; the digest of its manifest. */
export function writeLayout(
  folder: string,
  { layers, config = {}, architecture, compress = gzipSync }: TestImage,
): string {
  const blobs = join(folder, 'blobs', 'sha256')
  mkdirSync(blobs, { recursive: true })
  const add = (bytes: Buffer, mediaType: string) => {
    const digest = digestOf(bytes)
    writeFileSync(join(blobs, digest.slice(7)), bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const document = (value: object, mediaType: string) =>
    add(Buffer.from(JSON.stringify(value)), mediaType)
  const found = architecture ?? (process.arch === 'arm64' ? 'arm64' : 'amd64')
  const made = document(
    {
      os: 'linux',
      architecture: found,
      config,
      rootfs: { type: 'layers', diff_ids: layers.map(digestOf) },
    },
    'application/vnd.oci.image.config.v1+json',
  )
  const manifest = document(
    {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: made,
      layers: layers.map((layer) =>
        add(compress(layer), 'application/vnd.oci.image.layer.v1.tar+gzip'),
      ),
    },
    'application/vnd.oci.image.manifest.v1+json',
  )
  const annotations = { 'org.opencontainers.image.ref.name': 'v1' }
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] }
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index))
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  return manifest.digest
}
