// The configuration of a model cell at its start.

/** Exit of a cell whose file contradicts its config: EX_DATAERR of sysexits.h. Starting it again is of no use. */
export const EXIT_MISFIT = 65

export type Gpu = 'auto' | 'cuda' | 'vulkan'

export type ModelConfig = {
  /** The public name in answers. */
  readonly id: string
  /** Path of the GGUF file. */
  readonly file: string
  readonly kind: 'chat' | 'embedding'
  /** Tokens per sequence: prompt and completion of one request share them. */
  readonly contextSize: number
  /** Somebody asked for that context: a file that was trained for less is refused, else served with less. */
  readonly isContextAsked?: boolean
  /** The required length of its vectors: a file with another length is not served. */
  readonly dimensions?: number
  /** Requests decoded together; memory grows with contextSize × sequences. */
  readonly sequences: number
  /** ggml threads. 1 unless the cores are really free: they spin at barriers, and spinning is billed. */
  readonly threads: number
  /** The part of a GPU that the engine uses; absent: none. Its package must be installed. */
  readonly gpu?: Gpu
  /** The template of a conversation; absent: the file's own template, else ChatML. */
  readonly template?: 'chatml' | 'jinja'
  /** True for a model trained to emit <tool_call>; other models get examples, and are weak at it. */
  readonly tools?: boolean
  readonly defaults?: { readonly temperature?: number; readonly topP?: number }
  /** Embeddings are zero-padded to this length: cosine, dot product and L2 stay the same. */
  readonly pad?: number
}
