import { Header, Moment } from './parts/header.js'
import { Keys } from './parts/keys.js'
import { place } from './state/location.js'
import { hrefOf } from './state/place.js'
import { ViewOf } from './views/views.js'

/** The view alone, for the frame of another page, with a way to the whole one. */
function Framed() {
  return (
    <div class="framed">
      <main id="main">
        <ViewOf view={place.value.view} />
      </main>
      <p class="source">
        <a href={hrefOf({ ...place.value, isFramed: false })} target="_blank" rel="noreferrer">
          Plumbline
        </a>
        <Moment />
      </p>
    </div>
  )
}

/** The whole page: what is the same on every view, and the view that the URL names. */
export function App() {
  if (place.value.isFramed) return <Framed />
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <ViewOf view={place.value.view} />
      </main>
      <Keys />
    </>
  )
}
