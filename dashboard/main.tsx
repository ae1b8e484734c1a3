import { render } from 'preact'
import './style/base.css'
import './style/shell.css'
import './style/parts.css'
import './style/board.css'
import './style/print.css'
import { App } from './app.js'
import { connectLive } from './live/live.js'
import { followPrinting } from './parts/paper.js'
import { followAddressBar } from './state/location.js'

followPrinting()
followAddressBar()
connectLive()
render(<App />, document.getElementById('page') as HTMLElement)
