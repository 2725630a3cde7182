// Makes the report's timeline zoom and its observations filter. All text stands in the page without
// it. Log text only ever goes through textContent.
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const byId = (id) => document.getElementById(id);
  const make = (name, props, ...children) => {
    const node = document.createElement(name);
    Object.assign(node, props);
    node.append(...children);
    return node;
  };
  const draw = (name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // --- Theme, copying, printing ---

  const themeButton = byId('theme');
  if (themeButton) {
    themeButton.hidden = false;
    themeButton.addEventListener('click', () => {
      const root = document.documentElement;
      const dark = root.dataset.theme
        ? root.dataset.theme === 'dark'
        : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
    });
  }
  for (const block of document.querySelectorAll('pre.command')) {
    const button = make('button', { type: 'button', className: 'copy', textContent: 'copy' });
    const text = block.textContent;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'copied';
      } catch {
        getSelection().selectAllChildren(block);
        button.textContent = 'selected';
      }
    });
    const box = make('div', { className: 'command-box' });
    block.replaceWith(box);
    box.append(block, button);
  }
  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });

  // --- Data ---

  const unpack = async () => {
    const holder = byId('data');
    if (!holder || typeof DecompressionStream === 'undefined') return null;
    const bytes = Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return JSON.parse(await new Response(stream).text());
  };
  const timeText = (data, at) => {
    if (at === null) return '';
    const date = new Date(data.t0 + at / 1000);
    return Number.isNaN(date.getTime()) ? '' : date.toISOString();
  };

  // --- Timeline ---

  const LEFT = 170, WIDTH = 1000, TOP = 34, ROW = 24, MAX_LANES = 40, BINS = 400;
  const ROLE_RANK = { root: 2, symptom: 1, context: 0 };
  const GROUPS = {
    file: (d, i) => d.files[d.file[i]],
    node: (d, i) => d.places[d.place[i]].node,
    pod: (d, i) => d.places[d.place[i]].pod,
    rank: (d, i) => {
      const place = d.places[d.place[i]];
      return place.rank === '' ? '' : 'rank ' + place.rank;
    },
    gpu: (d, i) => d.places[d.place[i]].gpu,
    class: (d, i) => d.classes[d.class[i]],
    rule: (d, i) => d.rules[d.rule[i]],
  };

  class Timeline {
    constructor(data, onPick) {
      this.data = data;
      this.onPick = onPick;
      this.svg = byId('timeline-svg');
      this.dated = [];
      for (let i = 0; i < data.n; i++) if (data.time[i] !== null) this.dated.push(i);
      let first = Infinity, last = -Infinity;
      for (const i of this.dated) {
        if (data.time[i] < first) first = data.time[i];
        if (data.time[i] > last) last = data.time[i];
      }
      const margin = Math.max((last - first) * 0.01, 500);
      this.whole = [first - margin, last + margin];
      this.view = [...this.whole];
      this.group = 'file';
      this.assignLanes();
      this.listen();
      this.render();
    }
    assignLanes() {
      const counts = new Map();
      const name = (i) => GROUPS[this.group](this.data, i) || 'not named';
      for (const i of this.dated) counts.set(name(i), (counts.get(name(i)) || 0) + 1);
      let names = [...counts.keys()];
      if (names.length > MAX_LANES) {
        names.sort((a, b) => counts.get(b) - counts.get(a));
        names = names.slice(0, MAX_LANES - 1);
        names.push('others');
      }
      const natural = new Intl.Collator('en', { numeric: true });
      if (names[names.length - 1] !== 'others') names.sort(natural.compare);
      this.lanes = names;
      const index = new Map(names.map((n, at) => [n, at]));
      this.lane = new Map();
      for (const i of this.dated) this.lane.set(i, index.get(name(i)) ?? names.length - 1);
    }
    x(time) {
      return LEFT + ((time - this.view[0]) / (this.view[1] - this.view[0])) * (WIDTH - LEFT);
    }
    timeAt(x) {
      return this.view[0] + ((x - LEFT) / (WIDTH - LEFT)) * (this.view[1] - this.view[0]);
    }
    render() {
      const { data, svg } = this;
      const height = TOP + this.lanes.length * ROW + 6;
      svg.setAttribute('viewBox', `0 0 ${WIDTH} ${height}`);
      const out = document.createDocumentFragment();
      this.lanes.forEach((name, at) => {
        const y = TOP + at * ROW;
        out.append(draw('rect', { class: at % 2 ? 'lane odd' : 'lane', x: 0, y, width: WIDTH, height: ROW }));
        const short = name.length > 26 ? '…' + name.slice(-25) : name;
        const label = draw('text', { x: 4, y: y + 16 }, short);
        label.append(draw('title', {}, name));
        out.append(label);
      });
      this.renderAxis(out, height);
      let labelled = 0;
      for (const link of data.chain) {
        if (link.time === null || link.time < this.view[0] || link.time > this.view[1]) continue;
        const x = this.x(link.time);
        out.append(draw('line', { class: 'link ' + link.role, x1: x, x2: x, y1: TOP - 4, y2: height }));
        if (x - labelled < 22) continue;
        labelled = x;
        out.append(draw('text', { x: Math.min(x + 2, WIDTH - 18), y: TOP - 8, class: 'soft' }, '[' + link.index + ']'));
      }
      this.renderMarks(out);
      svg.replaceChildren(out);
      byId('timeline-range').textContent =
        timeText(data, this.view[0]) + ' to ' + timeText(data, this.view[1]);
    }
    renderAxis(out, height) {
      const span = this.view[1] - this.view[0];
      const steps = [1e3, 1e4, 1e5, 1e6, 2e6, 5e6, 1e7, 3e7, 6e7, 12e7, 3e8, 6e8, 18e8, 36e8, 108e8, 216e8, 864e8];
      const step = steps.find((s) => span / s <= 8) || Math.ceil(span / 8 / 864e8) * 864e8;
      const base = this.data.t0 * 1000;
      let at = Math.ceil((this.view[0] + base) / step) * step - base;
      for (let n = 0; n < 12 && at < this.view[1]; n++, at += step) {
        const x = this.x(at);
        out.append(draw('line', { class: 'grid', x1: x, x2: x, y1: TOP, y2: height }));
        const iso = timeText(this.data, at);
        const text = step >= 864e8 ? iso.slice(0, 10) : step >= 1e6 ? iso.slice(11, 19) : iso.slice(14, 23);
        out.append(draw('text', { class: 'soft', x: x + 2, y: 11 }, text));
      }
    }
    renderMarks(out) {
      const { data } = this;
      const bins = new Map();
      const span = this.view[1] - this.view[0];
      for (const i of this.dated) {
        const time = data.time[i];
        if (time < this.view[0] || time > this.view[1]) continue;
        const column = Math.min(BINS - 1, Math.floor(((time - this.view[0]) / span) * BINS));
        const key = this.lane.get(i) * BINS + column;
        const bin = bins.get(key);
        if (bin === undefined) bins.set(key, { key, first: i, best: i, count: data.count[i], unsure: data.unsure[i] });
        else {
          bin.count += data.count[i];
          if ((ROLE_RANK[data.roles[data.role[i]]] || 0) > (ROLE_RANK[data.roles[data.role[bin.best]]] || 0)) bin.best = i;
        }
      }
      const columnWidth = (WIDTH - LEFT) / BINS;
      for (const bin of bins.values()) {
        const lane = Math.floor(bin.key / BINS), column = bin.key % BINS;
        const height = Math.min(ROW - 4, 6 + Math.log2(bin.count + 1) * 2);
        const x = LEFT + column * columnWidth;
        const middle = TOP + lane * ROW + ROW / 2;
        const blur = (bin.unsure * 1000 / span) * (WIDTH - LEFT);
        if (blur > 4)
          out.append(draw('line', { class: 'unsure', x1: Math.max(LEFT, x - blur), x2: Math.min(WIDTH, x + blur), y1: middle, y2: middle }));
        const role = data.roles[data.role[bin.best]];
        const mark = draw('rect', {
          class: 'mark ' + role, x: x.toFixed(1), y: (middle - height / 2).toFixed(1),
          width: Math.max(columnWidth, 4).toFixed(1), height: height.toFixed(1), 'data-key': bin.key, 'data-best': bin.best,
        });
        mark.append(draw('title', {}, `${bin.count} × ${role}\n${timeText(data, data.time[bin.first])}\n${data.texts[data.text[bin.best]]}`));
        out.append(mark);
      }
    }
    pick(key, best) {
      const lane = Math.floor(key / BINS), column = key % BINS;
      const span = this.view[1] - this.view[0];
      const from = this.view[0] + (column / BINS) * span;
      this.onPick({ from, to: from + span / BINS, lane: this.lanes[lane], group: this.group, best });
    }
    zoom(factor, around) {
      const [from, to] = this.view;
      const centre = around ?? (from + to) / 2;
      const next = [centre - (centre - from) * factor, centre + (to - centre) * factor];
      const span = next[1] - next[0];
      if (span < 1000) return;
      if (span >= this.whole[1] - this.whole[0]) this.view = [...this.whole];
      else this.view = next;
      this.render();
    }
    pan(share) {
      const by = (this.view[1] - this.view[0]) * share;
      this.view = [this.view[0] + by, this.view[1] + by];
      this.render();
    }
    incident() {
      const times = this.data.chain.map((link) => link.time).filter((t) => t !== null);
      if (times.length === 0) return;
      const from = Math.min(...times), to = Math.max(...times);
      const margin = Math.max((to - from) * 0.1, 2e6);
      this.view = [from - margin, to + margin];
      this.render();
    }
    listen() {
      const { svg } = this;
      const at = (event) => {
        const box = svg.getBoundingClientRect();
        return ((event.clientX - box.left) / box.width) * WIDTH;
      };
      svg.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.altKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.shiftKey) {
          if (document.activeElement !== svg) return;
        }
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / 1000);
        else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(at(event)));
      }, { passive: false });
      let start = null, box = null;
      svg.addEventListener('pointerdown', (event) => {
        if (event.button !== 0 || at(event) < LEFT) return;
        start = at(event);
      });
      svg.addEventListener('pointermove', (event) => {
        if (start === null) return;
        const now = Math.max(LEFT, at(event));
        if (Math.abs(now - start) < 5) return;
        if (box === null) {
          box = draw('rect', { class: 'select', y: TOP, height: this.lanes.length * ROW });
          svg.append(box);
        }
        box.setAttribute('x', Math.min(start, now));
        box.setAttribute('width', Math.abs(now - start));
      });
      addEventListener('pointerup', (event) => {
        if (start !== null && box !== null) {
          const a = this.timeAt(start), b = this.timeAt(Math.max(LEFT, at(event)));
          if (Math.abs(b - a) > 1000) {
            this.view = [Math.min(a, b), Math.max(a, b)];
            this.render();
          }
        }
        start = box = null;
      });
      svg.addEventListener('keydown', (event) => {
        const act = {
          '+': () => this.zoom(0.7), '=': () => this.zoom(0.7), '-': () => this.zoom(1.4),
          ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
          0: () => { this.view = [...this.whole]; this.render(); },
        }[event.key];
        if (act === undefined) return;
        event.preventDefault();
        act();
      });
      svg.addEventListener('click', (event) => {
        const mark = event.target.closest('.mark');
        if (mark !== null) this.pick(Number(mark.dataset.key), Number(mark.dataset.best));
      });
      const on = (id, act) => byId(id).addEventListener('click', act);
      on('zoom-in', () => this.zoom(0.5));
      on('zoom-out', () => this.zoom(2));
      on('pan-left', () => this.pan(-0.3));
      on('pan-right', () => this.pan(0.3));
      on('zoom-all', () => { this.view = [...this.whole]; this.render(); });
      on('zoom-incident', () => this.incident());
      byId('lanes').addEventListener('change', (event) => {
        this.group = event.target.value;
        this.assignLanes();
        this.render();
      });
      svg.setAttribute('tabindex', '0');
      byId('timeline-controls').hidden = false;
    }
  }

  // --- Observations ---

  const PAGE = 100;
  class Table {
    constructor(data) {
      this.data = data;
      this.page = 0;
      this.window = null;
      this.lit = -1;
      this.words = new Array(data.n);
      this.body = byId('observation-rows');
      const choices = (id, names) => {
        for (const name of names) byId(id).append(make('option', { value: name, textContent: name }));
      };
      choices('filter-role', data.roles);
      choices('filter-class', data.classes);
      let waiting = 0;
      byId('filter-text').addEventListener('input', () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => this.apply(), 120);
      });
      for (const id of ['filter-role', 'filter-class']) byId(id).addEventListener('change', () => this.apply());
      byId('filter-clear').addEventListener('click', () => {
        byId('filter-text').value = byId('filter-role').value = byId('filter-class').value = '';
        this.window = null;
        this.lit = -1;
        this.apply();
      });
      byId('page-back').addEventListener('click', () => this.turn(-1));
      byId('page-on').addEventListener('click', () => this.turn(1));
      byId('filter').hidden = false;
      byId('pages').hidden = false;
      const note = byId('observations-static');
      if (note) note.hidden = true;
      this.apply();
    }
    haystack(i) {
      const { data } = this;
      if (this.words[i] === undefined) {
        const place = data.places[data.place[i]];
        this.words[i] = [data.rules[data.rule[i]], data.files[data.file[i]] + ':' + data.line[i], place.node, place.pod,
          'rank ' + place.rank, place.gpu, data.texts[data.text[i]]].join('\n').toLowerCase();
      }
      return this.words[i];
    }
    apply() {
      const { data } = this;
      const wanted = byId('filter-text').value.toLowerCase().split(/\s+/).filter(Boolean);
      const role = data.roles.indexOf(byId('filter-role').value);
      const kind = data.classes.indexOf(byId('filter-class').value);
      this.hits = [];
      for (let i = 0; i < data.n; i++) {
        if (role >= 0 && data.role[i] !== role) continue;
        if (kind >= 0 && data.class[i] !== kind) continue;
        if (this.window !== null) {
          const time = data.time[i];
          if (time === null || time < this.window.from || time > this.window.to) continue;
          if (this.window.lane !== 'others' &&
              (GROUPS[this.window.group](data, i) || 'not named') !== this.window.lane) continue;
        }
        if (wanted.length > 0) {
          const text = this.haystack(i);
          if (!wanted.every((word) => text.includes(word))) continue;
        }
        this.hits.push(i);
      }
      this.page = 0;
      this.show();
    }
    pick(window) {
      this.window = window;
      this.lit = window.best;
      this.apply();
      byId('observations').scrollIntoView({ block: 'start' });
    }
    turn(by) {
      this.page += by;
      this.show();
    }
    show() {
      const last = Math.max(0, Math.ceil(this.hits.length / PAGE) - 1);
      this.page = Math.min(Math.max(this.page, 0), last);
      const rows = this.hits.slice(this.page * PAGE, (this.page + 1) * PAGE).map((i) => this.row(i));
      this.body.replaceChildren(...rows);
      byId('page-back').disabled = this.page === 0;
      byId('page-on').disabled = this.page === last;
      const from = this.hits.length === 0 ? 0 : this.page * PAGE + 1;
      const within = this.window === null ? '' : ' in the picked moment';
      byId('page-text').textContent =
        `${from}–${Math.min(this.hits.length, (this.page + 1) * PAGE)} of ${this.hits.length}${within}`;
    }
    row(i) {
      const { data } = this;
      const place = data.places[data.place[i]];
      const where = [place.node, place.pod, place.rank === '' ? '' : 'rank ' + place.rank, place.gpu]
        .filter(Boolean).join(' · ');
      const role = data.roles[data.role[i]];
      const cell = (className, text) => make('td', { className, textContent: text });
      const count = data.count[i] > 1 ? ` ×${data.count[i]}` : '';
      return make('tr', { className: i === this.lit ? 'lit' : '' },
        cell('time', timeText(data, data.time[i])),
        make('td', {}, make('span', { className: 'badge ' + role, textContent: role })),
        cell('', data.classes[data.class[i]]),
        cell('', data.rules[data.rule[i]] + count),
        cell('place', where),
        cell('place', data.files[data.file[i]] + ':' + data.line[i]),
        cell('text mono', data.texts[data.text[i]]));
    }
  }

  unpack().then((data) => {
    if (data === null) return;
    const table = new Table(data);
    if (byId('timeline-svg')) new Timeline(data, (window) => table.pick(window));
    document.documentElement.dataset.ready = 'true';
  });
})();
