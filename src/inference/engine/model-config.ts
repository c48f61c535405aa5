// What a model cell is told at its start.

/** Exit of a cell whose file is not what its config says: EX_DATAERR of sysexits.h. Starting it again is of no use. */
export const EXIT_MISFIT = 65

export type Gpu = 'auto' | 'cuda' | 'vulkan'

export type ModelConfig = {
  /** The public name that answers bear. */
  readonly id: string
  /** Path of the GGUF file. */
  readonly file: string
  readonly kind: 'chat' | 'embedding'
  /** Tokens per sequence: prompt and completion of one request share them. */
  readonly contextSize: number
  /** Somebody asked for that context: a file that was trained for less is refused, else served with less. */
  readonly isContextAsked?: boolean
  /** What its vectors must have: of another length the file is not served. */
  readonly dimensions?: number
  /** Requests decoded together; memory grows with contextSize × sequences. */
  readonly sequences: number
  /** ggml threads. 1 unless the cores are really free: they spin at barriers, and spinning is billed. */
  readonly threads: number
  /** What of a GPU the engine uses; absent: nothing. Its package must be installed. */
  readonly gpu?: Gpu
  /** How a conversation becomes tokens; absent: the file's own template, else ChatML. */
  readonly template?: 'chatml' | 'jinja'
  /** Whether the model was trained to emit <tool_call>; others are shown by examples, and are weak at it. */
  readonly tools?: boolean
  readonly defaults?: { readonly temperature?: number; readonly topP?: number }
  /** Embeddings are zero-padded to this length: cosine, dot product and L2 stay the same. */
  readonly pad?: number
}
