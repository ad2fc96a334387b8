import icon from '../../../design/icon.svg';
import { GATEWAY_NAME, OWN_ICON } from '../../../gateway.js';

export function Logo() {
  return (
    <a className="site-brand" href="/">
      <img src={OWN_ICON ?? icon} alt="" width="26" height="26" />
      {GATEWAY_NAME}
    </a>
  );
}
