# The completion of some words and a tab in an interactive zsh: complete.zsh FOLDER-OF-COMPLETIONS WORDS
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=''; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D; print RE''ADY"
zpty -r -m shell before '*READY*'
zpty -w -n shell "$2"$'\t'
# The words stay a part of this command: nothing else is run.
zpty -w shell '; print EN''D'
zpty -r -m shell after '*END*'
print -r -- "$after"
zpty -d shell
