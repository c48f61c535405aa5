// The head of a page: its title, which takes the focus after a change of page, its own actions, and the search.
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import { openPalette } from './palette-state.ts'

const SEARCH_KEY = /^(Mac|iP)/.test(navigator.platform) ? '⌘K' : 'Ctrl K'

/** Nothing to announce on the page that the browser itself has just loaded. */
let shown: string | undefined

export function Head(props: {
  readonly title: string
  readonly crumb?: ReactNode
  readonly children?: ReactNode
}) {
  const { title, crumb, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => {
    document.title = `${title} · Ergon`
    if (shown !== undefined && shown !== title) heading.current?.focus({ preventScroll: true })
    shown = title
  }, [title, path])
  return (
    <div className="head">
      <div>
        {crumb !== undefined && <p className="small muted">{crumb}</p>}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
      </div>
      <div className="tools">
        {children}
        <button type="button" className="search" onClick={openPalette}>
          Search or jump to <kbd>{SEARCH_KEY}</kbd>
        </button>
      </div>
    </div>
  )
}
