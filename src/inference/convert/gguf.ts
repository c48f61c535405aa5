// Writes GGUF v3 files (ggml's docs/gguf.md): header, typed keys, tensor table, aligned tensor data.
// The bytes depend on the arguments alone, so that a converted file can be known by its SHA-256.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { encodeTensor, TENSOR_FORMATS, type TensorFormat } from './encodings.ts'

const VERSION = 3
const ALIGNMENT_BYTES = 32
const TYPE_IDS = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const

/** A key of the header. Arrays hold one scalar type. */
export type GgufKey =
  | readonly [name: string, type: 'u32' | 'i32' | 'f32', value: number]
  | readonly [name: string, type: 'bool', value: boolean]
  | readonly [name: string, type: 'string', value: string]
  | readonly [name: string, type: 'strings', value: readonly string[]]
  | readonly [name: string, type: 'i32s' | 'f32s', value: readonly number[]]

/** A tensor; `dimensions` run from the fastest-varying (row length) to the slowest, as GGUF has them. */
export type GgufTensor = {
  readonly name: string
  readonly dimensions: readonly number[]
  readonly format: TensorFormat
  /** Called once while writing, so that only one tensor is in memory at a time. */
  readonly values: () => Float32Array
}

/** Writes the file durably under a temporary name and renames it; returns its size in bytes. */
export function writeGguf(
  file: string,
  keys: readonly GgufKey[],
  tensors: readonly GgufTensor[],
): number {
  const partial = `${file}.${process.pid}.partial`
  const target = openSync(partial, 'wx', 0o644)
  let bytes = 0
  const put = (data: Uint8Array) => {
    for (let at = 0; at < data.length;) at += writeSync(target, data, at)
    bytes += data.length
    const padding = padded(bytes) - bytes
    if (padding > 0) bytes += writeSync(target, Buffer.alloc(padding))
  }
  try {
    put(header(keys, tensors))
    for (const tensor of tensors) put(encodeTensor(tensor.values(), tensor.format))
    fsyncSync(target)
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  } finally {
    closeSync(target)
  }
  syncFolder(dirname(file))
  return bytes
}

function header(keys: readonly GgufKey[], tensors: readonly GgufTensor[]): Buffer {
  const parts = [Buffer.from('GGUF'), u32(VERSION), u64(tensors.length), u64(keys.length)]
  for (const key of keys) parts.push(string(key[0]), ...value(key))
  let offset = 0
  for (const { name, dimensions, format } of tensors) {
    const { id, block, bytes } = TENSOR_FORMATS[format]
    const rowLength = dimensions[0] ?? 0
    if (rowLength % block !== 0)
      throw new RangeError(`${name}: a row of ${rowLength} is not a multiple of ${block}`)
    parts.push(string(name), u32(dimensions.length), ...dimensions.map(u64), u32(id), u64(offset))
    const count = dimensions.reduce((product, dimension) => product * dimension, 1)
    offset += padded((count / block) * bytes)
  }
  return Buffer.concat(parts)
}

function value(key: GgufKey): Buffer[] {
  switch (key[1]) {
    case 'u32':
    case 'i32':
    case 'f32':
      return [u32(TYPE_IDS[key[1]]), scalar(key[1], key[2])]
    case 'bool':
      return [u32(TYPE_IDS.bool), Buffer.from([key[2] ? 1 : 0])]
    case 'string':
      return [u32(TYPE_IDS.string), string(key[2])]
    case 'strings':
      return [...arrayHead(TYPE_IDS.string, key[2].length), ...key[2].map(string)]
    case 'i32s':
      return [...arrayHead(TYPE_IDS.i32, key[2].length), ...key[2].map((v) => scalar('i32', v))]
    case 'f32s':
      return [...arrayHead(TYPE_IDS.f32, key[2].length), ...key[2].map((v) => scalar('f32', v))]
  }
}

const arrayHead = (type: number, length: number) => [u32(TYPE_IDS.array), u32(type), u64(length)]
const padded = (bytes: number) => Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES

function scalar(type: 'u32' | 'i32' | 'f32', number: number): Buffer {
  const bytes = Buffer.alloc(4)
  if (type === 'u32') bytes.writeUInt32LE(number)
  else if (type === 'i32') bytes.writeInt32LE(number)
  else bytes.writeFloatLE(number)
  return bytes
}

const u32 = (number: number) => scalar('u32', number)

function u64(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(number))
  return bytes
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  return Buffer.concat([u64(bytes.length), bytes])
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
