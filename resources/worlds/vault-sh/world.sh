#!/usr/bin/env bash
# Open a vault with three dials, in Bash: one episode at a time, one line in, one line out. The combination follows from the seed.
# Messages are so regular that patterns are enough to read them; a world with richer data would use jq.

say() { # text, reward, done
  printf '{"type":"observation","data":{"observation":{"text":"%s"},"reward":%s,"done":%s}}\n' "$1" "$2" "$3"
}

while IFS= read -r line; do
  case $line in
    *'"type":"reset"'*)
      [[ $line =~ \"seed\":([0-9]+) ]] && seed=${BASH_REMATCH[1]} || seed=0
      wanted=("$((seed % 2))" "$((seed / 2 % 2))" "$((seed / 4 % 2))")
      names=(left right)
      place=0
      say "A vault. The note says ${names[${wanted[0]}]} ${names[${wanted[1]}]} ${names[${wanted[2]}]}. Dial 1." null false
      ;;
    *'"type":"step"'*)
      [[ $line =~ \"message\":\"([a-z]+)\" ]] && said=${BASH_REMATCH[1]} || said=
      if [ "$said" != "${names[${wanted[$place]}]}" ]; then
        say 'A click, and the vault stays shut.' 0 true
      elif [ "$place" -eq 2 ]; then
        say 'The vault opens.' 1 true
      else
        place=$((place + 1))
        say "It gives way. Dial $((place + 1))." 0 false
      fi
      ;;
    *'"type":"close"'*) exit 0 ;;
    *) printf '{"type":"error","data":{"message":"There is no such message","code":"UNKNOWN_TYPE"}}\n' ;;
  esac
done
