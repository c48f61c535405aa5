// A llama of random weights: says nonsense without end, quickly, and the same for the same seed.
import { uniform } from '#inference/engine/sample.ts'
import type { TensorFormat } from '#inference/convert/encodings.ts'
import { isText, vocabularyOf, writeLlama } from './llama-file.ts'

export type RandomLlama = {
  readonly seed?: number
  readonly layers?: number
  readonly width?: number
  readonly vocabulary?: number
  readonly context?: number
  readonly format?: TensorFormat
}

/** Writes the model (0.5 MB by default); returns its size in bytes. */
export function writeRandomLlama(file: string, options: RandomLlama = {}): number {
  const width = options.width ?? 64
  const random = uniform(options.seed ?? 1)
  const vocabulary = vocabularyOf([], options.vocabulary)
  const silent = new Set(vocabulary.tokens.keys().filter((id) => !isText(vocabulary, id)))
  return writeLlama(file, {
    shape: {
      name: 'random-llama',
      layers: options.layers ?? 2,
      width,
      feedForward: width * 2,
      heads: 4,
      keyHeads: 2,
      context: options.context ?? 2048,
    },
    vocabulary,
    format: options.format ?? 'f32',
    fill(name, count, rowLength) {
      // Uniform with the variance 1/rowLength that keeps activations near one.
      const spread = Math.sqrt(3 / rowLength)
      const values = Float32Array.from({ length: count }, () => (random() * 2 - 1) * spread)
      // Marks get the logit 0, so that one never ends the text at temperature 0.
      if (name === 'output.weight')
        for (const id of silent) values.fill(0, id * rowLength, (id + 1) * rowLength)
      return values
    },
  })
}
