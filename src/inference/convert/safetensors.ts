// Reads safetensors files: a little-endian u64 header length, a JSON header, raw data.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type ErgonError, present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'

const HEADER_BYTES_MAX = 16 << 20

type TensorEntry = {
  readonly dtype: string
  readonly shape: readonly number[]
  readonly data_offsets: readonly [number, number]
}

export type Safetensors = {
  /** The shape of a tensor, slowest dimension first. */
  shape(name: string): readonly number[]
  /** The values of an F32 tensor. */
  values(name: string): Float32Array
  close(): void
}

/** Opens a file. Throws ErgonError `model_file_invalid` when it is not what it should be. */
export function openSafetensors(file: string): Safetensors {
  const handle = openSync(file, 'r')
  const fileBytes = fstatSync(handle).size
  const read = (position: number, length: number): Buffer => {
    if (position < 0 || length < 0 || position + length > fileBytes)
      throw invalid(file, `it ends before byte ${position + length}`)
    const bytes = Buffer.alloc(length)
    for (let at = 0; at < length;) at += readSync(handle, bytes, at, length - at, position + at)
    return bytes
  }
  const headerBytes = Number(read(0, 8).readBigUInt64LE())
  if (headerBytes > HEADER_BYTES_MAX) throw invalid(file, `a header of ${headerBytes} bytes`)
  const entries = JSON.parse(read(8, headerBytes).toString('utf8')) as Record<string, TensorEntry>
  const entryOf = (name: string): TensorEntry => {
    const entry = entries[name]
    if (entry === undefined) throw invalid(file, `no tensor ${name}`)
    return entry
  }
  return {
    shape: (name) => entryOf(name).shape,
    values(name) {
      const { dtype, data_offsets: offsets, shape } = entryOf(name)
      if (dtype !== 'F32') throw invalid(file, `${name} is ${dtype}, not F32`)
      const bytes = read(8 + headerBytes + offsets[0], offsets[1] - offsets[0])
      const count = shape.reduce((product, dimension) => product * dimension, 1)
      if (bytes.length !== count * 4) throw invalid(file, `${name} has ${bytes.length} bytes`)
      return new Float32Array(bytes.buffer, bytes.byteOffset, count)
    },
    close: () => closeSync(handle),
  }
}

/** The error of a model file that cannot be used. */
export const invalid = (file: string, detail: string): ErgonError =>
  fault(
    'model_file_invalid',
    `Could not use the model file ${present(file.split('/').at(-1), 'a path without a name')}: ${detail}`,
  )
