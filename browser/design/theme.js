/**
 * The theme of every page, and the element that chooses it. The head loads this file as a classic script, so that it runs
 * before the first paint: the policies allow no inline script. `data-theme` is `light` or `dark`.
 */
(() => {
  const STORED_AS = 'petstore.theme';
  const SYSTEM = matchMedia('(prefers-color-scheme: dark)');
  const ICONS = {
    system: 'M4 4h16v11H4zM9 20h6M12 15v5',
    light:
      'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
    dark: 'M20.5 14.5A8.5 8.5 0 1 1 9.5 3.5a7 7 0 0 0 11 11z',
  };

  function chosen() {
    try {
      return localStorage.getItem(STORED_AS) ?? 'system';
    } catch {
      // The browser blocks the storage of this site.
      return 'system';
    }
  }

  function choose(theme) {
    try {
      localStorage.setItem(STORED_AS, theme);
    } catch {}
    apply(theme);
  }

  function apply(theme = chosen()) {
    const isSystem = theme !== 'light' && theme !== 'dark';
    const shown = isSystem ? (SYSTEM.matches ? 'dark' : 'light') : theme;
    document.documentElement.dataset.theme = shown;
    document.querySelector('meta[name="color-scheme"]')?.setAttribute('content', shown);
    for (const input of document.querySelectorAll('theme-switch input')) {
      input.checked = input.value === (isSystem ? 'system' : theme);
    }
  }

  function choice(theme) {
    const label = document.createElement('label');
    label.title = `Theme: ${theme}`;
    const input = Object.assign(document.createElement('input'), {
      type: 'radio',
      name: 'theme',
      value: theme,
      ariaLabel: theme.charAt(0).toUpperCase() + theme.slice(1),
      onchange: () => choose(theme),
    });
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    icon.setAttribute('viewBox', '0 0 24 24');
    icon.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(icon.namespaceURI, 'path');
    path.setAttribute('d', ICONS[theme]);
    icon.append(path);
    label.append(input, icon);
    return label;
  }

  class ThemeSwitch extends HTMLElement {
    connectedCallback() {
      this.role = 'radiogroup';
      this.ariaLabel = 'Theme';
      this.replaceChildren(...Object.keys(ICONS).map(choice));
      apply();
    }
  }

  apply();
  customElements.define('theme-switch', ThemeSwitch);
  SYSTEM.addEventListener('change', () => apply());
  // Another tab of this site chose.
  addEventListener('storage', ({ key }) => key === STORED_AS && apply());
})();
