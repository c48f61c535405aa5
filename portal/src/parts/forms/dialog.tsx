// A dialog over the page: native, so that focus stays inside and returns to where it came from.
import { useEffect, useRef, type ReactNode } from 'react'

export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const { title, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
