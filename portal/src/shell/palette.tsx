// ⌘K: finds pages, and the thing of any id that is typed.
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { LOOKUP_ID } from '#contract/accounts/lookup-id.ts'
import { call } from '#console/client/call.ts'
import { useIsOperator } from '#console/client/queries.ts'
import { addressOfPage, CIRCUITS, pagesOf } from '#console/pages/list.ts'
import { placeOf } from './place-of.ts'
import { closePalette } from './palette-state.ts'

/** `to` undefined: the service is asked where the id leads. */
type Entry = { readonly title: string; readonly hint: string; readonly to: string | undefined }

function entriesFor(text: string, isOperator: boolean): readonly Entry[] {
  const wanted = text.trim().toLowerCase()
  const found = CIRCUITS.flatMap((circuit) => pagesOf(circuit, isOperator)).filter(({ title }) =>
    title.toLowerCase().includes(wanted),
  )
  const pages = found.map((page) => ({
    title: page.title,
    hint: page.key === undefined ? '' : `g ${page.key}`,
    to: addressOfPage(page),
  }))
  return LOOKUP_ID.test(wanted)
    ? [{ title: wanted, hint: 'find it', to: undefined }, ...pages]
    : pages
}

const find = async (id: string): Promise<string> => {
  const { path, id: found } = await call('GET /v1/lookup/:id', { path: { id } })
  return placeOf(path, found)
}

export function Palette() {
  const router = useRouter()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const entries = entriesFor(text, useIsOperator())
  useEffect(() => dialog.current?.showModal(), [])
  const [missing, setMissing] = useState<string>()
  const open = async (entry: Entry | undefined) => {
    if (entry === undefined) return
    try {
      const to = entry.to ?? (await find(entry.title))
      dialog.current?.close()
      await router.navigate({ to })
    } catch (error) {
      setMissing(error instanceof Error ? error.message : String(error))
    }
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((entries.length + chosen + step) % Math.max(entries.length, 1))
    } else if (event.key === 'Enter') void open(entries[chosen])
  }
  return (
    <dialog className="palette" ref={dialog} aria-label="Search or jump to" onClose={closePalette}>
      <input
        className="field"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${chosen}`}
        aria-label="A page or any id"
        placeholder="A page or any id"
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setChosen(0)
          setMissing(undefined)
        }}
        onKeyDown={press}
      />
      <div role="listbox" id="palette-list" aria-label="Results">
        {entries.map((entry, nth) => (
          <Option
            key={entry.title}
            {...{ entry, nth, press }}
            isChosen={nth === chosen}
            open={() => void open(entry)}
            choose={() => setChosen(nth)}
          />
        ))}
        {missing !== undefined && (
          <p className="small bad" role="status">
            {missing}
          </p>
        )}
        {entries.length === 0 && <p className="small muted">Nothing has this name.</p>}
      </div>
      <Keys />
    </dialog>
  )
}

function Option(props: {
  readonly entry: Entry
  readonly nth: number
  readonly isChosen: boolean
  readonly open: () => void
  readonly choose: () => void
  readonly press: (event: KeyboardEvent) => void
}) {
  const { entry, nth, isChosen, open, choose, press } = props
  return (
    <div
      id={`palette-${nth}`}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={open}
      onKeyDown={press}
      onMouseMove={choose}
    >
      <span>{entry.title}</span>
      <small>{entry.hint}</small>
    </div>
  )
}

const Keys = () => (
  <p className="tiny">
    <kbd>j</kbd> <kbd>k</kbd> move, <kbd>enter</kbd> opens, <kbd>esc</kbd> closes, <kbd>c</kbd>{' '}
    copies the exact figure, <kbd>s</kbd> says the sum, <kbd>g</kbd> and a letter goes
  </p>
)
