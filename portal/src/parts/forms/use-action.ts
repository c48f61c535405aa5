// An action of a button: under way, done, or failed with its reason beside the button.
import { useState } from 'react'

export type Action = {
  readonly isBusy: boolean
  readonly error: unknown
  readonly run: () => void
}

/** `act` runs at most once at a time. */
export function useAction(act: () => Promise<unknown>): Action {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error: unknown }>({
    isBusy: false,
    error: undefined,
  })
  const run = () => {
    if (state.isBusy) return
    setState({ isBusy: true, error: undefined })
    act().then(
      () => setState({ isBusy: false, error: undefined }),
      (error: unknown) => setState({ isBusy: false, error }),
    )
  }
  return { ...state, run }
}
