// Asks a model that may still be loading: the request is sent again by itself until the model answers.
import { pause } from '#console/client/pause.ts'
import { isProblem } from '#console/client/problem.ts'

/** After a start a model loads for some seconds, and for a minute on a busy machine. */
const TRIES_MAX = 60
const AGAIN_MS = 2_000

/** The answer of a model. `loads` is called at each refusal of one that is loading. Throws what `ask` throws in the end. */
export async function onceLoaded<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  { ending, loads }: { readonly ending: () => AbortSignal; readonly loads: () => void },
): Promise<Answer> {
  for (let tries = 1; ; tries++)
    try {
      return await ask(ending())
    } catch (error) {
      if (!isProblem(error, 'model_loading') || tries === TRIES_MAX) throw error
      loads()
      // A try after the end of the signal fails by it.
      await pause(error.retryMs ?? AGAIN_MS, ending())
    }
}
