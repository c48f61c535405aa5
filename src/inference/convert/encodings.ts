// The storage of tensor values in a GGUF file: F32, F16 and ggml's Q8_0 (blocks of 32: a half-precision scale and 32
// signed bytes). Bit for bit the result of ggml's own quantiser.

/** `block` values take `bytes` bytes; `id` is ggml_type, `fileType` llama_ftype. */
export const TENSOR_FORMATS = {
  f32: { id: 0, block: 1, bytes: 4, fileType: 0 },
  f16: { id: 1, block: 1, bytes: 2, fileType: 1 },
  q8_0: { id: 8, block: 32, bytes: 34, fileType: 7 },
} as const

export type TensorFormat = keyof typeof TENSOR_FORMATS

const Q8_MAX = 127

/** The stored bytes of a tensor's values. */
export function encodeTensor(values: Float32Array, format: TensorFormat): Uint8Array {
  switch (format) {
    case 'f32':
      return asBytes(values)
    case 'f16':
      return asBytes(new Float16Array(values))
    case 'q8_0':
      return encodeQ8(values)
  }
}

const asBytes = (array: Float32Array | Float16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

function encodeQ8(values: Float32Array): Uint8Array {
  const { block, bytes: blockBytes } = TENSOR_FORMATS.q8_0
  const bytes = new DataView(new ArrayBuffer((values.length / block) * blockBytes))
  for (let start = 0, at = 0; start < values.length; start += block, at += blockBytes) {
    let largest = 0
    for (let i = start; i < start + block; i++)
      largest = Math.max(largest, Math.abs(values[i] ?? 0))
    const scale = Math.fround(largest / Q8_MAX)
    const inverse = scale === 0 ? 0 : 1 / scale
    bytes.setFloat16(at, scale, true)
    for (let i = 0; i < block; i++) {
      const scaled = (values[start + i] ?? 0) * inverse
      // roundf() rounds halves away from zero; Math.round rounds them up.
      bytes.setInt8(at + 2 + i, Math.sign(scaled) * Math.round(Math.abs(scaled)))
    }
  }
  return new Uint8Array(bytes.buffer)
}
