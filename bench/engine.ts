// The chat cell against the engine it is built on: the same greedy answer, by turns in one run.
import { getLlama, LlamaLogLevel, type LlamaContextSequence, type Token } from 'node-llama-cpp'
import { chatModel } from '../test/default-models.ts'
import { chunksOf, startCell, type TestCell } from '../test/inference/model-cell.ts'
import { pssMib } from './processes.ts'
import { median, type Section } from './report.ts'

const ROUNDS = 5
const TOKENS = 96
const QUESTION = 'Write a long story about a river that runs through a town to the sea.'

type Run = { readonly tokensPerSecond: number; readonly cpuMsPerToken: number }

/** The engine alone, in this process: one sequence, the iterator read as fast as it goes. */
async function openPlain(file: string): Promise<() => Promise<Run>> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    maxThreads: 1,
    logLevel: LlamaLogLevel.error,
  })
  const loaded = await llama.loadModel({ modelPath: file })
  const context = await loaded.createContext({ contextSize: 1024, sequences: 4, threads: 1 })
  const sequence: LlamaContextSequence = context.getSequence()
  const marks = (text: string): Token[] => loaded.tokenize(text, true)
  const prompt = [
    ...marks('<|im_start|>user\n'),
    ...loaded.tokenize(QUESTION),
    ...marks('<|im_end|>\n<|im_start|>assistant\n'),
  ]
  return async () => {
    await sequence.clearHistory()
    const startMs = performance.now()
    const startCpu = process.cpuUsage()
    let tokens = 0
    for await (const token of sequence.evaluate(prompt, { temperature: 0, topK: 0 })) {
      loaded.detokenize([token])
      if (++tokens === TOKENS) break
    }
    const cpu = process.cpuUsage(startCpu)
    const seconds = (performance.now() - startMs) / 1000
    return {
      tokensPerSecond: tokens / seconds,
      cpuMsPerToken: (cpu.user + cpu.system) / 1000 / tokens,
    }
  }
}

async function runCell(cell: TestCell, answers = 1): Promise<Run & { readonly claimed: number }> {
  const spentNs = async () => {
    const { cpu_ns } = JSON.parse((await cell.get('/healthz')).text) as { cpu_ns: string }
    return Number(cpu_ns)
  }
  const before = await spentNs()
  const startMs = performance.now()
  const replies = await Promise.all(
    Array.from({ length: answers }, () =>
      cell.post('/v1/chat/completions', {
        messages: [{ role: 'user', content: QUESTION }],
        temperature: 0,
        max_tokens: TOKENS,
      }),
    ),
  )
  const seconds = (performance.now() - startMs) / 1000
  const spent = (await spentNs()) - before
  const last = replies.map((reply) => chunksOf(reply.text).at(-1)?.ergon)
  const tokens = last.reduce((sum, ergon) => sum + (ergon?.completion_tokens ?? 0), 0)
  const claimed = last.reduce((sum, ergon) => sum + Number(ergon?.cpu_ns ?? 0), 0)
  return {
    tokensPerSecond: tokens / seconds,
    cpuMsPerToken: spent / 1e6 / tokens,
    claimed: claimed / spent,
  }
}

const rowOf = (name: string, runs: readonly Run[]): string[] => [
  name,
  median(runs.map((run) => run.tokensPerSecond)).toFixed(1),
  median(runs.map((run) => run.cpuMsPerToken)).toFixed(2),
]

/** Undefined when the model is not in the cache: nothing is downloaded for a bench. */
export async function runEngine(): Promise<Section | undefined> {
  const model = chatModel()
  if ('reason' in model) {
    process.stderr.write(`engine: skipped: ${model.reason}\n`)
    return undefined
  }
  const plain = await openPlain(model.file)
  const cell = await startCell({
    id: 'smollm2-135m-instruct',
    file: model.file,
    template: 'chatml',
  })
  try {
    await plain()
    await runCell(cell)
    const plainRuns: Run[] = []
    const cellRuns: (Run & { claimed: number })[] = []
    for (let round = 0; round < ROUNDS; round++) {
      plainRuns.push(await plain())
      cellRuns.push(await runCell(cell))
    }
    const four = await runCell(cell, 4)
    const ratios = cellRuns.map(
      (run, round) => run.tokensPerSecond / (plainRuns[round]?.tokensPerSecond ?? Number.NaN),
    )
    const claimed = median(cellRuns.map((run) => run.claimed))
    return {
      name: 'engine',
      title: 'Embedded engine',
      bars: [
        {
          what: 'tokens/s of the cell ÷ node-llama-cpp',
          value: median(ratios),
          least: 0.95,
          digits: 3,
        },
      ],
      tables: [
        {
          caption: `smollm2-135m-instruct, ${TOKENS} greedy tokens, one thread`,
          columns: ['who answers', 'tokens/s', 'CPU ms/token'],
          rows: [
            rowOf('node-llama-cpp alone', plainRuns),
            rowOf('chat cell over HTTP, one request', cellRuns),
            rowOf('chat cell over HTTP, four requests', [four]),
          ],
        },
      ],
      notes: [
        `By turns, ${ROUNDS} pairs. Of the cell's CPU, ${(claimed * 100).toFixed(1)} % stood on the chunks of one request and ${(four.claimed * 100).toFixed(1)} % on those of four: that is what callers are billed. The cell's PSS is ${pssMib(cell.pid)?.toFixed(0) ?? 'unknown'} MiB.`,
      ],
    }
  } finally {
    await cell.stop()
  }
}
