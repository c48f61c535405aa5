// The ten checksum algorithms of S3: their names on the wire and the code that computes them. Speeds
// on one core of a small virtual machine: crc32 2.4 GB/s and more, crc64nvme 1.9, crc32c 1.2,
// md5 0.8 GB/s, sha256 1.2 GB/s.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createCRC32, createXXHash3, createXXHash64, createXXHash128 } from 'hash-wasm'
import { createCrc64 } from './crc64.ts'

/** The type of a multipart object's checksum: over its bytes, or over its parts' checksums. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE'

type Types = readonly [ChecksumType, ...ChecksumType[]]

type Row = {
  readonly header: `x-amz-checksum-${string}`
  /** Its element in XML. */
  readonly element: string
  readonly bytes: number
  /** Types for multipart objects, the default first. */
  readonly types: Types
}

const EITHER: Types = ['COMPOSITE', 'FULL_OBJECT']
const COMPOSITE: Types = ['COMPOSITE']

export const CHECKSUMS = {
  CRC32: row('CRC32', 4, EITHER),
  CRC32C: row('CRC32C', 4, EITHER),
  CRC64NVME: row('CRC64NVME', 8, ['FULL_OBJECT']),
  MD5: row('MD5', 16, COMPOSITE),
  SHA1: row('SHA1', 20, COMPOSITE),
  SHA256: row('SHA256', 32, COMPOSITE),
  SHA512: row('SHA512', 64, COMPOSITE),
  XXHASH64: row('XXHASH64', 8, COMPOSITE),
  XXHASH3: row('XXHASH3', 8, COMPOSITE),
  XXHASH128: row('XXHASH128', 16, COMPOSITE),
} as const satisfies Record<string, Row>

export type ChecksumAlgorithm = keyof typeof CHECKSUMS

/** The algorithm of parts whose upload names none: the completion may give the checksum of the whole, as at AWS. */
export const PART_ALGORITHM: ChecksumAlgorithm = 'CRC64NVME'

export const ALGORITHMS = Object.keys(CHECKSUMS) as ChecksumAlgorithm[]

function row(name: string, bytes: number, types: Types): Row {
  return {
    header: `x-amz-checksum-${name.toLowerCase()}`,
    element: `Checksum${name}`,
    bytes,
    types,
  }
}

export const isAlgorithm = (text: string): text is ChecksumAlgorithm =>
  Object.hasOwn(CHECKSUMS, text)

/** One running checksum. `digest` ends it: the bytes are in network order. */
export type Hasher = {
  update(bytes: Uint8Array): void
  digest(): Buffer
}

export type Hashers = {
  /** A new checksum; asynchronous because half of them are WebAssembly instances. */
  open(algorithm: ChecksumAlgorithm): Promise<Hasher>
}

type Wasm = {
  init(): unknown
  update(bytes: Uint8Array): unknown
  digest(form: 'binary'): Uint8Array
}

/** CRC-32C, reflected; in WebAssembly 1.2 GB/s, in JavaScript 0.8. */
const CRC32_C = 0x82f63b78
const IDLE_MAX = 64

/**
 * Creates checksums. WebAssembly instances are reused: creating one takes 0.15 ms, about as long as a PUT of 4 KiB.
 */
export function createHashers(): Hashers {
  const pools = {
    CRC32C: wasmPool(() => createCRC32(CRC32_C)),
    XXHASH64: wasmPool(createXXHash64),
    XXHASH3: wasmPool(createXXHash3),
    XXHASH128: wasmPool(createXXHash128),
  }
  let openCrc64: (() => Hasher) | undefined
  const open = async (algorithm: ChecksumAlgorithm): Promise<Hasher> => {
    switch (algorithm) {
      case 'CRC32':
        return crc32Hasher()
      case 'MD5':
      case 'SHA1':
      case 'SHA256':
      case 'SHA512':
        return nodeHasher(algorithm.toLowerCase())
      case 'CRC64NVME':
        openCrc64 ??= createCrc64()
        return openCrc64()
      case 'CRC32C':
      case 'XXHASH64':
      case 'XXHASH3':
      case 'XXHASH128':
        return pools[algorithm]()
    }
  }
  return { open }
}

function nodeHasher(name: string): Hasher {
  const running = createHash(name)
  return {
    update: (bytes) => {
      running.update(bytes)
    },
    digest: () => running.digest(),
  }
}

function crc32Hasher(): Hasher {
  let value = 0
  return {
    update(bytes) {
      value = crc32(bytes, value)
    },
    digest() {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value)
      return bytes
    },
  }
}

/** An instance is reused after its digest; an abandoned one is garbage-collected. */
function wasmPool(create: () => Promise<Wasm>): () => Promise<Hasher> {
  const idle: Wasm[] = []
  return async () => {
    const instance = idle.pop() ?? (await create())
    instance.init()
    return {
      update: (bytes) => {
        instance.update(bytes)
      },
      digest() {
        const bytes = Buffer.from(instance.digest('binary'))
        if (idle.length < IDLE_MAX) idle.push(instance)
        return bytes
      },
    }
  }
}
